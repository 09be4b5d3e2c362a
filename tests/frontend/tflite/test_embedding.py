"""Embedding lookups against LiteRT."""

import ml_dtypes
import numpy as np

from tests.frontend.tflite.agreement import EACH_GPU, operator_test
from tests.frontend.tflite.models import constant, feed, model_of, out

TABLE = np.random.default_rng(0).standard_normal((7, 4)).astype(np.float32)
INTEGERS = np.random.default_rng(0).integers(-127, 128, (7, 4)).astype(np.int8)
SCALES = np.linspace(0.1, 0.4, 7).tolist()


def lookup(table, **output):
    return model_of("EMBEDDING_LOOKUP", feed(np.int32([3, 0, 6, 3])), table, outputs=[out(**output)])


def sparse(combiner, places, shape, table=TABLE, weights=(0.5, 2, -1, 3, 1.5), **kinds):
    """Return a model that combines five rows of the table at these coordinates of a sparse tensor of this shape."""
    rows, weights = feed(np.int32([3, 0, 6, 3, 1])), feed(np.float32(weights))
    return model_of(
        "EMBEDDING_LOOKUP_SPARSE", rows, constant(places), constant(shape), weights, constant(table),
        outputs=[out(np.float32)], combiner=combiner,
    )  # fmt: skip


MATRIX = [[0, 0], [0, 2], [1, 0], [3, 0], [3, 1]]
CUBE = [[0, 0, 0], [0, 1, 0], [0, 1, 2], [1, 0, 1], [1, 0, 2]]
MODELS = {
    "f32": lookup(constant(TABLE), dtype=np.float32),
    "three dimensions": lookup(constant(TABLE.reshape(7, 2, 2)), dtype=np.float32),
    "i8": lookup(constant(INTEGERS, scale=0.5), dtype=np.int8, scale=0.5),
    "i8 as f32": lookup(constant(INTEGERS, scale=0.5), dtype=np.float32),
    "i8 with a scale for each row": lookup(constant(INTEGERS, scale=SCALES, axis=0), dtype=np.float32),
    "u8 as f32": lookup(constant(INTEGERS.view(np.uint8), scale=0.5), dtype=np.float32),
    "i4 as f32": lookup(constant((INTEGERS // 17).astype(ml_dtypes.int4), scale=0.5), dtype=np.float32),
    "sum": sparse("SUM", MATRIX, [4, 3]),
    "mean": sparse("MEAN", MATRIX, [4, 3]),
    "square root": sparse("SQRTN", MATRIX, [4, 3]),
    "sum, two dimensions": sparse("SUM", CUBE, [2, 2, 3]),
    "mean, two dimensions": sparse("MEAN", CUBE, [2, 2, 3], TABLE.reshape(7, 2, 2)),
}


test_as_litert = operator_test(MODELS, EACH_GPU)
