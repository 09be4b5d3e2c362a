"""Hashes of strings; shapes and errors of LshProjection, whose values the tests of the frontend compare with LiteRT."""

import numpy as np
import pytest

from hetero import Constant, HeteroError, Parameter, Type, ops
from hetero.reference import evaluate
from hetero.reference.sequence.hashing import siphash64

TEXTS = ["", "a", "wörld", "b" * 8, "c" * 21]
# What the operators StringToHashBucketFast, StringToHashBucket and StringToHashBucketStrong of TensorFlow 2.21 return.
HASHES = {
    ("farmhash", ()): [
        1936946117179621455, 3694432073954588131, 3812762574238912142, 1756112785892412947, 3373661409159033582
    ],
    ("murmurhash", ()): [
        105434511174508091, 2996632905371535868, 4473881774657549309, 137151010956159662, 3957533218668172029
    ],
    ("siphash", (1, -2)): [
        1583518726171341606, 3067518542778738979, 1786616989533378472, 314258801163835115, 4211256285988675949
    ],
}  # fmt: skip


@pytest.mark.parametrize(("algorithm", "key"), HASHES)
def test_hashes_of_strings(algorithm, key):
    texts = np.array(TEXTS)
    (found,) = evaluate(ops.StringHashBucket(Constant(texts), 2**62, algorithm, key), [texts])
    assert found.dtype == np.int64 and found.tolist() == HASHES[algorithm, key]


def test_siphash():
    """The example of appendix A of Aumasson & Bernstein."""
    key = [int.from_bytes(range(begin, begin + 8), "little") for begin in (0, 8)]
    assert siphash64(bytes(range(15)), key) == 0xA129CA6149BE45E5


@pytest.mark.parametrize(
    ("attributes", "problem"),
    [
        ({"num_buckets": 0}, "num_buckets must be positive"),
        ({"num_buckets": 5, "algorithm": "siphash", "key": (1,)}, "key must have two numbers for siphash"),
        ({"num_buckets": 5, "key": (1, 2)}, "key must have two numbers for siphash, none otherwise"),
    ],
)
def test_hash_bucket_refused(attributes, problem):
    with pytest.raises(HeteroError, match=problem):
        ops.StringHashBucket(Parameter(Type.string, [2]), **attributes)


def projection(*shapes, kind=Type.i32, **attributes):
    hashes, data, *weights = shapes
    weights = [Parameter(Type.f32, shape) for shape in weights]
    return ops.LshProjection(Parameter(Type.f32, hashes), Parameter(kind, data), *weights, **attributes)


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        (lambda: projection([3, 5], [6, 2]), [15]),
        (lambda: projection([-1, 5], [6, 2], [6]), [-1]),
        (lambda: projection([3, -1], [-1], [6], is_sparse=True), [3]),
    ],
)
def test_shapes(node, expected):
    assert node().output(0).partial_shape == expected


@pytest.mark.parametrize(
    ("node", "problem"),
    [
        (lambda: projection([3, 33], [6]), "at most 32 columns"),
        (lambda: projection([3, 5], []), "data must have one or more dimensions"),
        (lambda: projection([3, 5], [6], [5]), "rows and weights must be equal"),
        (lambda: projection([3, 5], [6], kind=Type.string), "input 1 must be numbers"),
    ],
)
def test_refused(node, problem):
    with pytest.raises(HeteroError, match=problem):
        node()
