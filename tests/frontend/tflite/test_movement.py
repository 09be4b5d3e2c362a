"""Reshape, transpose, concatenation, splits and reversals against LiteRT."""

import ml_dtypes
import numpy as np
import pytest

from tests.frontend.tflite.agreement import CORE, WITHOUT_FALLBACK, assert_as_litert, operator_test
from tests.frontend.tflite.models import Graph, Op, build, constant, feed, model_of, out

DYNAMIC = {"signature": (-1, 3)}
CASES = {
    "RESHAPE": lambda: model_of("RESHAPE", feed((2, 3)), constant([3, -1])),
    "RESHAPE by attribute": lambda: model_of("RESHAPE", feed((2, 3)), new_shape=[6]),
    "RESHAPE by attribute beside an input": lambda: model_of("RESHAPE", feed((2, 3)), constant([3, 2]), new_shape=[6]),
    "RESHAPE by attribute to a scalar": lambda: model_of("RESHAPE", feed((1, 1)), new_shape=[0]),
    "RESHAPE to a scalar": lambda: model_of("RESHAPE", feed((1, 1)), constant(np.zeros(0, np.int32))),
    "RESHAPE of nothing": lambda: model_of("RESHAPE", feed((0, 3)), constant([3, 0])),
    "RESHAPE of nothing, a length left open": lambda: model_of("RESHAPE", feed((0, 3)), constant([-1, 3])),
    "RESHAPE of a constant": lambda: model_of("RESHAPE", constant(np.arange(6)), feed([3, 2], np.int32)),
    "RESHAPE by a shape that is computed": lambda: model_of("RESHAPE", feed((2, 3), **DYNAMIC), feed([3, 2], np.int32)),
    "RESHAPE, quantized": lambda: model_of(
        "RESHAPE", feed((2, 3), scale=0.5), constant([6]), outputs=[out(np.int8, scale=0.5)]
    ),
    "RESHAPE, quantized otherwise": lambda: model_of(
        "RESHAPE", feed((2, 3), scale=0.5), constant([6]), outputs=[out(np.int8, scale=0.25, zero_point=3)]
    ),
    "TRANSPOSE": lambda: model_of("TRANSPOSE", feed((2, 3, 4)), constant([2, 0, 1])),
    "TRANSPOSE by axes from the end": lambda: model_of("TRANSPOSE", feed((2, 3, 4)), constant([-1, 0, -2])),
    "TRANSPOSE by a computed order": lambda: model_of("TRANSPOSE", feed((2, 3)), feed([1, 0], np.int32)),
    "TRANSPOSE of six axes": lambda: model_of("TRANSPOSE", feed((1, 2, 1, 3, 2, 2)), constant([5, 3, 1, 0, 2, 4])),
    "TRANSPOSE, quantized": lambda: model_of(
        "TRANSPOSE", feed((2, 3), scale=0.5), constant([1, 0]), outputs=[out(np.int8, scale=0.5)]
    ),
    "EXPAND_DIMS": lambda: model_of("EXPAND_DIMS", feed((2, 3)), constant(1)),
    "EXPAND_DIMS at the end": lambda: model_of("EXPAND_DIMS", feed((2, 3), **DYNAMIC), constant(-1)),
    "EXPAND_DIMS of a scalar": lambda: model_of("EXPAND_DIMS", feed(()), constant([0])),
    "SQUEEZE": lambda: model_of("SQUEEZE", feed((1, 2, 1, 3, 1))),
    "SQUEEZE of some": lambda: model_of("SQUEEZE", feed((1, 2, 1, 3, 1)), squeeze_dims=[0, -1]),
    "SQUEEZE where the batch may change": lambda: model_of(
        "SQUEEZE", feed((2, 1, 3), signature=(-1, 1, 3)), squeeze_dims=[1]
    ),
    "PACK": lambda: model_of("PACK", feed((2, 3)), feed((2, 3)), values_count=2, axis=1),
    "PACK at the end": lambda: model_of("PACK", feed((2, 3)), feed((2, 3)), values_count=2, axis=-1),
    "PACK of scalars": lambda: model_of("PACK", feed((), np.int32), constant(3), values_count=2),
    "PACK of one": lambda: model_of("PACK", feed((2,), np.int64), values_count=1),
    "PACK, quantized": lambda: model_of(
        "PACK", feed((2,), scale=0.5), feed((2,), scale=0.5), outputs=[out(np.int8, scale=0.5)], values_count=2
    ),
    "UNPACK": lambda: model_of("UNPACK", feed((2, 3)), outputs=3, num=3, axis=1),
    "UNPACK at the end": lambda: model_of("UNPACK", feed((2, 3), np.int32), outputs=3, num=3, axis=-1),
    "UNPACK of a vector": lambda: model_of("UNPACK", feed((2,), bool), outputs=2, num=2),
    "CONCATENATION": lambda: model_of("CONCATENATION", feed((2, 3)), feed((2, 1)), axis=1),
    "CONCATENATION from the end": lambda: model_of(
        "CONCATENATION", feed((2, 3)), constant(np.ones((1, 3), np.float32)), axis=-2
    ),
    "CONCATENATION of three": lambda: model_of("CONCATENATION", *(feed((n,), np.int64) for n in (1, 0, 2)), axis=0),
    "CONCATENATION, quantized": lambda: model_of(
        "CONCATENATION", feed((2, 9), scale=0.5), feed((2, 9), scale=0.5), outputs=[out(np.int8, scale=0.5)], axis=0
    ),
    "CONCATENATION, quantized otherwise": lambda: model_of(
        "CONCATENATION",
        feed((9, 99), np.uint8, scale=0.5, zero_point=5),
        feed((9, 99), np.uint8, scale=0.2, zero_point=7),
        outputs=[out(np.uint8, scale=1.0, zero_point=128)],
        axis=1,
    ),
    "SPLIT": lambda: model_of("SPLIT", constant(1), feed((2, 6)), outputs=3, num_splits=3),
    "SPLIT at the end": lambda: model_of("SPLIT", constant([-1]), feed((2, 6), np.int32), outputs=2, num_splits=2),
    "SPLIT_V": lambda: model_of("SPLIT_V", feed((2, 6)), constant([1, 3, 2]), constant(1), outputs=3, num_splits=3),
    "SPLIT_V with a rest": lambda: model_of(
        "SPLIT_V", feed((2, 6)), constant([1, -1, 2]), constant(-1), outputs=3, num_splits=3
    ),
    "SPLIT_V, quantized": lambda: model_of(
        "SPLIT_V",
        feed((2, 6), scale=0.5),
        constant([4, 2]),
        constant(1),
        outputs=[out(np.int8, scale=0.5), out(np.int8, scale=0.5)],
        num_splits=2,
    ),
    "REVERSE_V2": lambda: model_of("REVERSE_V2", feed((2, 3, 4)), constant([1])),
    "REVERSE_V2 of axes from the end": lambda: model_of("REVERSE_V2", feed((2, 3, 4), np.int32), constant([-1, -2])),
    "REVERSE_SEQUENCE": lambda: model_of(
        "REVERSE_SEQUENCE", feed((3, 4, 2)), feed([4, 1, 3], np.int32), seq_dim=1, batch_dim=0
    ),
    "REVERSE_SEQUENCE with the batch behind": lambda: model_of(
        "REVERSE_SEQUENCE", feed((3, 4), np.int32), feed([0, 1, 3, 2], np.int64), seq_dim=0, batch_dim=1
    ),
}


test_as_litert = operator_test(CASES, WITHOUT_FALLBACK, steps=0)


@pytest.mark.parametrize(
    ("activation", "expected"), [("NONE", [[-16, 2, -3, 0]]), ("RELU", [[2, 2, 2, 2]]), ("RELU6", [[2, 2, 2, 2]])]
)
def test_concatenation_of_other_scales_and_with_an_activation(activation, expected):
    # LiteRT refuses both: the integers are those of (integer - zero point) · scale, 2 standing for 0.
    first = feed(np.int8([[-35, 1]]), scale=0.5, zero_point=1)
    second = feed(np.int8([[-3, 0]]), scale=1.0, zero_point=2)
    result = out(np.int8, (1, 4), scale=1.0, zero_point=2)
    model = model_of("CONCATENATION", first, second, outputs=[result], axis=1, fused_activation_function=activation)
    (found,) = CORE.compile_model(model.content, "TEMPLATE")(model.inputs).values()
    assert found.tolist() == expected


@pytest.mark.parametrize(
    "kind",
    [np.float16, ml_dtypes.bfloat16, np.float64, np.int8, np.uint8, np.int16, np.uint16, np.uint32, np.int64, np.uint64,
     bool],
    ids=lambda kind: np.dtype(kind).name,
)  # fmt: skip
def test_element_types(kind):
    data, shaped, turned, part = feed((2, 3), kind), out(kind), out(kind), out(kind)
    numbers = [constant(n) for n in ([1, 0], [3, 2], [1, 1])]
    operators = [
        Op("RESHAPE", [data, constant([1, 3, 2])], [shaped]),
        Op("TRANSPOSE", [shaped, constant([2, 1, 0])], [turned]),
        Op("SQUEEZE", [turned], [part], squeeze_dims=[2]),
        Op("STRIDED_SLICE", [part, *numbers], [out(kind)]),
        Op("TILE", [part, constant([2, 1])], [out(kind)]),
        Op("BROADCAST_TO", [part, constant([2, 2, 3])], [out(kind)], version=2),
    ]
    assert_as_litert(build(Graph(operators)))


def of_spectra(kind, *inputs, dtype=np.complex64, **options):
    """Return a model that moves complex numbers, which it computes by RFFT2D because models have no complex inputs."""
    spectra, moved = out(np.complex64), out(dtype)
    operators = [Op("RFFT2D", [feed((3, 2, 8)), constant([2, 8])], [spectra])]
    operators.append(Op(kind, [spectra, *inputs], [moved], **options))
    return build(
        Graph(operators if dtype is not np.complex64 else [*operators, Op("REAL", [moved], [out(np.float32)])])
    )


COMPLEX = {
    "RESHAPE": lambda: of_spectra("RESHAPE", constant([2, 15])),
    "TRANSPOSE": lambda: of_spectra("TRANSPOSE", constant([-1, 0, 1])),
    "EXPAND_DIMS": lambda: of_spectra("EXPAND_DIMS", constant(-1)),
    "SLICE": lambda: of_spectra("SLICE", constant([1, 0, 2]), constant([2, -1, 2])),
    "SLICE of a known size": lambda: of_spectra("SLICE", feed([1, 0, 2], np.int32), constant([2, 1, 2])),
    "STRIDED_SLICE": lambda: of_spectra("STRIDED_SLICE", constant([1]), constant([3]), constant([2])),
    "STRIDED_SLICE ellipsis_mask": lambda: of_spectra(
        "STRIDED_SLICE", constant([0, 2]), constant([0, 4]), constant([1, 1]), ellipsis_mask=1
    ),
    "SHAPE": lambda: of_spectra("SHAPE", dtype=np.int32, out_type="INT32"),
    "CAST": lambda: of_spectra("CAST", dtype=np.float32, in_data_type="COMPLEX64", out_data_type="FLOAT32"),
}


@pytest.mark.parametrize("case", COMPLEX)
def test_of_complex_numbers(case):
    assert_as_litert(COMPLEX[case]())


def test_squeeze_of_complex_numbers():
    given_rows, spectra, row = feed((3, 1, 8)), out(np.complex64), out(np.complex64)
    operators = [
        Op("RFFT2D", [given_rows, constant([1, 8])], [spectra]),
        Op("SQUEEZE", [spectra], [row], squeeze_dims=[-2]),
    ]
    assert_as_litert(build(Graph([*operators, Op("REAL", [row], [out(np.float32)])])))
