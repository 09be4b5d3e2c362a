"""FULLY_CONNECTED and BATCH_MATMUL against LiteRT."""

import ml_dtypes
import numpy as np
import pytest

from tests.frontend.tflite.agreement import CORE, EACH_GPU, assert_as_litert, operator_test
from tests.frontend.tflite.layers import QuantizedLayer, assert_as_with_floats, integers, of_weights, random
from tests.frontend.tflite.litert import DEFAULT, LiteRT, assert_close
from tests.frontend.tflite.models import constant, feed, model_of, out


def dense(data=(5, 40), weights=(7, 40), bias=True, **options):
    return model_of("FULLY_CONNECTED", feed(data), random(*weights), random(weights[0]) if bias else None, **options)


def quantized(data=(5, 40), weights=(7, 40), axis=None, bias=True, options=None, **how):
    layer = QuantizedLayer(data, weights, weights[1], axis, channels=weights[0], **how)
    tensors = layer.data, layer.weights, layer.bias if bias else None
    return model_of("FULLY_CONNECTED", *tensors, outputs=[layer.result], **options or {})


def quantized_batches(left=(2, 3, 40), right=(2, 40, 5), dtype=np.int8, zero_points=(3, -4, 2), **options):
    """Return a BATCH_MATMUL of two inputs."""
    largest = np.iinfo(dtype).max
    first, second, last = zero_points
    result = out(dtype, scale=0.03 * 0.02 * largest * 5, zero_point=last)
    factors = feed(left, dtype, scale=0.03, zero_point=first), feed(right, dtype, scale=0.02, zero_point=second)
    return model_of("BATCH_MATMUL", *factors, outputs=[result], **options)


SIXTEEN = {"dtype": np.int16, "zero_points": (0, 0, 0), "bias_dtype": np.int64}
FLOAT = {
    "dense": dense(),
    "dense, no bias": dense(bias=False),
    "dense, relu": dense(fused_activation_function="RELU"),
    "dense, relu6": dense(fused_activation_function="RELU6"),
    "dense, relu of -1 to 1": dense(fused_activation_function="RELU_N1_TO_1"),
    "dense, a vector": dense((40,)),
    "dense, a vector stays": dense((40,), keep_num_dims=True),
    "dense, three dimensions": dense((2, 3, 40)),
    "dense, three dimensions stay": dense((2, 3, 40), keep_num_dims=True),
    "dense, rows in two dimensions": dense((2, 4, 10)),
    "dense, no rows": dense((0, 40)),
    "dense, weights that are given": model_of("FULLY_CONNECTED", feed((3, 4)), feed((5, 4)), None),
    "batches": model_of("BATCH_MATMUL", feed((2, 3, 4)), feed((2, 4, 5))),
    "batches, constant": model_of("BATCH_MATMUL", feed((2, 3, 4)), random(2, 4, 5)),
    "batches, both transposed": model_of("BATCH_MATMUL", feed((2, 4, 3)), feed((2, 5, 4)), adj_x=True, adj_y=True),
    "batches, first transposed": model_of("BATCH_MATMUL", feed((2, 4, 3)), feed((2, 4, 5)), adj_x=True),
    "batches, broadcast": model_of("BATCH_MATMUL", feed((2, 1, 3, 4)), feed((3, 4, 5))),
    "batches, five dimensions": model_of("BATCH_MATMUL", feed((2, 1, 2, 3, 4)), feed((1, 3, 1, 4, 5))),
    "batches, matrices": model_of("BATCH_MATMUL", feed((3, 4)), feed((4, 5))),
}
QUANTIZED = {
    "dense": quantized(),
    "dense, scales": quantized(axis=0),
    "dense, no bias": quantized(bias=False),
    "dense, relu": quantized(options={"fused_activation_function": "RELU"}),
    "dense, relu6": quantized(options={"fused_activation_function": "RELU6"}),
    "dense, zero point of weights": quantized(zero_points=(3, 4, -5)),
    "dense, three dimensions": quantized((2, 3, 40), options={"keep_num_dims": True}),
    "dense, rows in two dimensions": quantized((2, 4, 10)),
    "dense, u8": quantized(dtype=np.uint8, weights_dtype=np.uint8, zero_points=(120, 131, 125)),
    "dense, i4": quantized(weights_dtype=ml_dtypes.int4),
    "dense, i4, scales": quantized(weights_dtype=ml_dtypes.int4, axis=0),
    "dense, i16": quantized(**SIXTEEN),
    "dense, i16, scales": quantized(**SIXTEEN, axis=0),
    "dense, i16, no bias": quantized(**SIXTEEN, bias=False),
    "dense, i16, sums beyond 32 bits": quantized((5, 3000), (7, 3000), **SIXTEEN),
    "batches": quantized_batches(),
    "batches, both transposed": quantized_batches((2, 40, 3), (2, 5, 40), adj_x=True, adj_y=True),
    "batches, broadcast": quantized_batches((2, 1, 3, 4), (3, 4, 5)),
    "batches, i16": quantized_batches(dtype=np.int16, zero_points=(0, 0, 0)),
    "batches, sums as they are": model_of(
        "BATCH_MATMUL", feed((3, 4), scale=0.1), feed((4, 5), scale=0.2), outputs=[out(np.int32, scale=0.02)]
    ),
}


test_float = operator_test(FLOAT, EACH_GPU)
test_quantized = operator_test(QUANTIZED, EACH_GPU)


def test_quantized_to_the_last_bit():
    assert_as_litert(quantized((50, 40), (70, 40), axis=0), steps=0, resolver=DEFAULT)


@pytest.mark.parametrize("device", EACH_GPU)
@pytest.mark.parametrize(
    ("axis", "dtype"), [(None, np.int8), (0, np.int8), (None, ml_dtypes.int4), (0, ml_dtypes.int4)]
)
def test_integers_as_weights_of_floats(axis, dtype, device):
    pair = of_weights((7, 40), axis, dtype)
    dynamic, floats = (model_of("FULLY_CONNECTED", feed((5, 40)), weights, random(7)) for weights in pair)
    assert_as_with_floats(dynamic, floats, device)


def test_weights_in_blocks():
    generator = np.random.default_rng(2)
    weights = generator.integers(0, 256, (8, 32)).astype(np.uint8)
    bias = generator.integers(-5000, 5000, 8).astype(np.int32)
    bytes_ = {"scale": 0.02, "zero_point": 128}
    model = model_of(
        "FULLY_CONNECTED", feed((4, 32), np.uint8, **bytes_), constant(weights, **bytes_), constant(bias, scale=4e-4),
        outputs=[out(np.int16, (4, 8), scale=0.004), out(np.uint8, (4, 32))], weights_format="SHUFFLED4x16INT8",
    )  # fmt: skip
    # What LiteRT leaves in the other output is not told.
    (name, expected), _ = LiteRT(model.content)(model.inputs).items()
    found = CORE.compile_model(model.content, "TEMPLATE")(model.inputs)
    assert_close({name: found[name]}, {name: expected}, {name})


def test_integers_as_matrices_of_floats():
    dynamic, floats = (model_of("BATCH_MATMUL", feed((2, 3, 40)), right) for right in of_weights((2, 40, 5), None))
    assert_as_with_floats(dynamic, floats)


def test_bytes_as_weights_of_floats_have_a_sign():
    values = integers(np.random.default_rng(2), (7, 40), np.int8)
    assert_as_litert(
        model_of("FULLY_CONNECTED", feed((5, 40)), constant(values.view(np.uint8), scale=0.01, zero_point=128), None),
        tolerance=2e-2,
    )


def test_integers_that_are_asked_to_be_less_even():
    weights, _ = of_weights((7, 40), None)
    model = model_of("FULLY_CONNECTED", feed((5, 40)), weights, random(7), asymmetric_quantize_inputs=True)
    assert_as_litert(model, tolerance=1e-2)


def test_dimensions_that_change():
    weights = constant(integers(np.random.default_rng(2), (7, 10), np.int8), scale=0.01)
    data = feed((2, 3, 10), signature=(-1, -1, 10), scale=0.1)
    model = model_of("FULLY_CONNECTED", data, weights, None, outputs=[out(np.int8, scale=0.3)], keep_num_dims=True)
    (name,) = model.inputs
    assert_as_litert(model, calls=[{name: np.full((4, 1, 10), 5, np.int8)}])
