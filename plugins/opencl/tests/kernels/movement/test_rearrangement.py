"""Operations that rearrange elements, compared with OpenVINO or the reference."""

import ml_dtypes
import numpy as np
import pytest

import hetero
from hetero import Constant, Parameter, ops
from tests.ops.movement.test_rearrangement import RESULTS, ints, random
from tests.ops.oracle import Data

DTYPES = (np.float32, np.float16, ml_dtypes.bfloat16, np.float64, np.int64, np.uint8, np.bool_, ml_dtypes.float8_e5m2,
          ml_dtypes.int4)  # fmt: skip


CASES = [
    *RESULTS,
    *[("pad", 12, random(3, 4, 5), ints(2, 0, 1), ints(1, 3, 0), mode) for mode in ("edge", "reflect", "symmetric")],
    *[("pad", 12, random(3, 4, 5), ints(-1, 0, 2), ints(1, -3, -1), mode) for mode in ("edge", "reflect", "symmetric")],
    *[("pad", 12, random(3, 4, 16), ints(1, 2, 0), ints(2, 1, 0), mode) for mode in ("edge", "reflect", "symmetric")],
    *[("pad", 12, random(3, 4, 5), ints(0, 0, 0), ints(0, 0, 0), mode) for mode in ("edge", "reflect", "symmetric")],
    ("roll", 7, random(3, 4, 5), ints(0, 5), ints(0, -1)),
    ("pad", 1, random(3, 4), ints(2, 1), ints(0, 1), "constant", np.array(7, np.float32)),
    ("roll", 7, random(3, 4, 5), ints(-1, 7), ints(0, -1)),
    ("roll", 7, random(3, 4, 5), ints(1, 1, 2), ints(1, 0, 1)),
    ("reverse_sequence", 1, random(3, 4, 5), Data(np.float32([1, 3, 2, 5])), 1, -1),
    ("space_to_batch", 2, random(2, 5, 6), ints(1, 2, 3), ints(0, 1, 2), ints(0, 0, 1)),
    ("batch_to_space", 2, random(12, 3, 4), ints(1, 2, 3), ints(0, 1, 2), ints(0, 0, 3)),
    ("tile", 1, random(2, 1, 3), ints(2, 3, 1, 2)),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}-{case[1]}")
def test_openvino_agrees(openvino_agrees, case):
    name, opset, *arguments = case
    openvino_agrees(name, *arguments, opset=opset)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("pad", (ints(0, 2), ints(1, 1), "reflect")),
        ("roll", (np.array(3), ints(1, 0))),
        ("reverse", (ints(0), "index")),
        ("reverse", (np.array([True, True]), "mask")),
        ("reverse_sequence", (ints(4, 2, 0), 0, 1)),
        ("shuffle_channels", (1, 2)),
        ("space_to_batch", (ints(1, 3), ints(0, 1), ints(0, 1))),
        ("batch_to_space", (ints(1, 3), ints(0, 1), ints(0, 0))),
    ],
)
def test_elements_of_every_type(reference_agrees, dtype, name, arguments):
    reference_agrees(name, random(3, 4, dtype=dtype), *arguments)


RUN_TIME_ARGUMENTS = [
    ("pad", random(4, 6), Data(ints(1, 2)), Data(ints(0, -1)), "reflect"),
    ("pad", random(4, 6), Data(ints(1, 2)), Data(ints(0, -1)), "constant", Data(np.array(3, np.float32))),
    ("tile", random(4, 6), Data(ints(1, 2))),
    ("roll", random(4, 6), Data(ints(7)), Data(ints(1))),
    ("reverse", random(4, 6), Data(ints(1)), "index"),
    ("space_to_batch", random(4, 6), Data(ints(1, 2)), Data(ints(0, 1)), Data(ints(0, 1))),
    ("gather", random(4, 6), Data(ints(1, 2)), Data(np.array(1))),
    ("slice", random(4, 6), Data(ints(3)), Data(ints(-9)), Data(ints(-1))),
    ("range", Data(np.array(3)), Data(np.array(20)), Data(np.array(4)), "i64"),
    ("one_hot", Data(ints(1, 2, 3)), Data(np.array(5)), np.array(1), np.array(0), -1),
    ("topk", random(4, 6), Data(np.array(5)), 1, "max", "value"),
    ("broadcast", random(1, 6), Data(ints(3, 4, 6))),
]


@pytest.mark.parametrize("case", RUN_TIME_ARGUMENTS, ids=lambda case: case[0])
def test_arguments_known_only_at_run_time(reference_agrees, case):
    reference_agrees(*case)


def test_sequences_of_invalid_length_are_not_reversed(compute):
    """The reference raises an error. A kernel cannot, but must not read out of bounds."""
    data = random(4, 3)
    (found,) = compute("reverse_sequence", (data, Data(ints(4, 2**40, -1, 3)), 0, 1), {})
    np.testing.assert_array_equal(found, [*data.array[:3], data.array[3, ::-1]])


@pytest.mark.parametrize("kind", ["f32", "f16", "bf16", "i8", "i64", "boolean"])
def test_a_diagonal_known_only_at_run_time(run, kind):
    diagonal = Parameter(hetero.Type.i64, [])
    node = ops.Eye(np.array(3), np.array(5), diagonal, kind, Constant(ints(2)))
    for place in (0, 2, -1, 9, 2**40):
        (found,) = run([node], [diagonal], [np.array(place)])
        expected = [np.eye(3, 5, min(place, 9), node.get_element_type().to_dtype())] * 2
        np.testing.assert_array_equal(found, expected, strict=True)
