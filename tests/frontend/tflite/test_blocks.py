"""SPACE_TO_DEPTH, SPACE_TO_BATCH_ND and their inverses against LiteRT."""

import numpy as np

from tests.frontend.tflite.agreement import EACH_GPU, assert_as_litert, operator_test
from tests.frontend.tflite.models import constant, feed, model_of, out


def batches(kind, data, blocks, edges):
    """A model of SPACE_TO_BATCH_ND or BATCH_TO_SPACE_ND."""
    result = out(data.dtype, scale=data.scale, zero_point=data.zero_point)
    return model_of(kind, data, constant(blocks, np.int32), constant(edges, np.int32), outputs=[result])


def quantized(shape, dtype=np.int8, zero_point=0):
    return feed(shape, dtype, scale=0.5, zero_point=zero_point)


def same(zero_point=0):
    return [out(np.int8, scale=0.5, zero_point=zero_point)]


MODELS = {
    "space to depth": model_of("SPACE_TO_DEPTH", feed((2, 4, 6, 3)), block_size=2),
    "space to depth, i8": model_of("SPACE_TO_DEPTH", quantized((1, 6, 3, 2)), outputs=same(), block_size=3),
    "space to depth, i64": model_of("SPACE_TO_DEPTH", feed((1, 4, 2, 1), np.int64), block_size=2),
    "depth to space": model_of("DEPTH_TO_SPACE", feed((2, 2, 3, 12)), block_size=2),
    "depth to space, i8": model_of("DEPTH_TO_SPACE", quantized((1, 3, 2, 18)), outputs=same(), block_size=3),
    "depth to space, u8": model_of("DEPTH_TO_SPACE", feed((1, 2, 3, 8), np.uint8), block_size=2),
    "to batch": batches("SPACE_TO_BATCH_ND", feed((2, 4, 6, 3)), [2, 3], [[0, 0], [0, 0]]),
    "to batch, padded": batches("SPACE_TO_BATCH_ND", feed((1, 5, 7, 2)), [3, 2], [[1, 0], [2, 1]]),
    "to batch, one axis": batches("SPACE_TO_BATCH_ND", feed((2, 5, 3)), [2], [[0, 1]]),
    "to batch, i8": batches("SPACE_TO_BATCH_ND", quantized((1, 3, 3, 2), zero_point=5), [2, 2], [[1, 0], [0, 1]]),
    "to batch, i16": batches("SPACE_TO_BATCH_ND", quantized((1, 3, 3, 2), np.int16), [2, 2], [[1, 0], [0, 1]]),
    "to space": batches("BATCH_TO_SPACE_ND", feed((12, 2, 2, 3)), [2, 3], [[0, 0], [0, 0]]),
    "to space, cropped": batches("BATCH_TO_SPACE_ND", feed((6, 3, 4, 2)), [3, 2], [[1, 2], [2, 1]]),
    "to space, one axis": batches("BATCH_TO_SPACE_ND", feed((4, 3, 3)), [2], [[0, 1]]),
    "to space, i8": batches("BATCH_TO_SPACE_ND", quantized((4, 2, 2, 2), zero_point=5), [2, 2], [[1, 0], [0, 1]]),
    "blocks known late": model_of(
        "SPACE_TO_BATCH_ND", feed((1, 4, 5, 2)), feed(np.int32([2, 3])), feed(np.int32([[0, 0], [1, 0]]))
    ),
    "crops known late": model_of(
        "BATCH_TO_SPACE_ND", feed((6, 2, 3, 1)), feed(np.int32([2, 3])), feed(np.int32([[1, 0], [2, 1]]))
    ),
}


test_as_litert = operator_test(MODELS, EACH_GPU, steps=0)


def test_dimensions_that_change():
    data = feed((1, 4, 4, 2), signature=(-1, -1, -1, 2))
    model = model_of("SPACE_TO_BATCH_ND", data, constant([2, 2], np.int32), constant([[0, 0], [0, 0]], np.int32))
    (name,) = model.inputs
    assert_as_litert(model, calls=[{name: np.ones((3, 2, 6, 2), np.float32)}])
