"""Constants of types narrower than a byte against LiteRT."""

import ml_dtypes
import numpy as np
import pytest

from tests.frontend.tflite.agreement import assert_as_litert
from tests.frontend.tflite.models import constant, feed, model_of, out
from tests.frontend.tflite.writer import TENSOR_TYPES

VALUES = {
    ml_dtypes.int2: [-2, 1, -1, 0, 1],
    ml_dtypes.int4: [-8, 7, -1, 3, 5],
    ml_dtypes.uint4: [15, 7, 1, 8, 5],
}


@pytest.mark.parametrize("dtype", VALUES)
def test_dequantize(dtype):
    packed = constant(np.array(VALUES[dtype], dtype), scale=0.5)
    assert_as_litert(model_of("DEQUANTIZE", packed, outputs=[out(np.float32)]))


@pytest.mark.parametrize("dtype", VALUES)
def test_cast(dtype):
    packed = constant(np.array(VALUES[dtype], dtype))
    kinds = {"in_data_type": TENSOR_TYPES[np.dtype(dtype)], "out_data_type": "FLOAT32"}
    assert_as_litert(model_of("CAST", packed, outputs=[out(np.float32)], **kinds))


def test_weights_of_two_bits():
    """LiteRT quantizes the data to eight bits."""
    weights = constant(np.array([[-2, 1, -1, 0], [1, 1, -2, 0]], ml_dtypes.int2), scale=[0.5, 0.25], axis=0)
    model = model_of("FULLY_CONNECTED", feed((3, 4)), weights, None, outputs=[out(np.float32)])
    assert_as_litert(model, tolerance=0.02)
