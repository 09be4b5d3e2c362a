"""A Pad in front of a convolution becomes its padding if the result is the same."""

import numpy as np
import pytest

from hetero import Model, Parameter, Type, ops
from hetero.graph.rt_info import original_names
from hetero.passes import fuse_pad_into_convolution
from tests.passes.test_passes import operations, run

X = np.random.default_rng(0).standard_normal((2, 4, 5, 6)).astype(np.float32)
FILTERS = np.random.default_rng(1).standard_normal((6, 4, 3, 3)).astype(np.float32)
GROUPS = FILTERS.reshape(2, 3, 4, 3, 3)[:, :, :2]


def pad(value, begin=(0, 0, 1, 2), end=(0, 0, 0, 1), mode="constant", number=0.0):
    return ops.Pad(value, np.int64(begin), np.int64(end), mode, np.float32(number), name="pad")


def convolution(value, filters=FILTERS, **attributes):
    attributes = {"strides": [2, 1], "pads_begin": [0, 0], "pads_end": [0, 0], "dilations": [1, 1], **attributes}
    operation = ops.Convolution if filters.ndim == 4 else ops.GroupConvolution
    return operation(value, filters, **attributes, name="convolution")


def model(make):
    x = Parameter(Type.f32, X.shape)
    return Model(make(x), [x])


FUSED = {
    "valid": lambda x: convolution(pad(x), auto_pad="valid"),
    "explicit padding": lambda x: convolution(pad(x), pads_begin=[1, 0], pads_end=[2, 1]),
    "padding that auto_pad overrides": lambda x: convolution(
        pad(x), pads_begin=[9, 9], pads_end=[9, 9], auto_pad="valid"
    ),
    "groups": lambda x: convolution(pad(x), GROUPS, auto_pad="valid"),
    "default value": lambda x: convolution(ops.Pad(x, np.int64([0, 0, 1, 1]), np.int64([0, 0, 1, 1]), "constant")),
}
KEPT = {
    "automatic padding": lambda x: convolution(pad(x), auto_pad="same_upper"),
    "another value": lambda x: convolution(pad(x, number=1.0)),
    "another mode": lambda x: convolution(pad(x, mode="edge")),
    "channels": lambda x: convolution(pad(x, (0, 1, 0, 0), (0, 1, 0, 0)), FILTERS[:, [0, 1, 2, 3, 0, 1]]),
    "cropping": lambda x: convolution(pad(x, (0, 0, -1, 0))),
    "another reader": lambda x: ops.Concat(
        [convolution(padded := pad(x), strides=[1, 1], pads_begin=[1, 1], pads_end=[1, 1]), padded], 1
    ),
}


@pytest.mark.parametrize("make", FUSED.values(), ids=FUSED)
def test_fused(make):
    expected = run(model(make), X)
    fused = model(make)
    assert fuse_pad_into_convolution(fused)
    assert operations(fused) in (["Convolution"], ["GroupConvolution"])
    assert "convolution" in original_names(fused.get_ordered_ops()[-2])
    np.testing.assert_allclose(run(fused, X)[0], expected[0], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("make", KEPT.values(), ids=KEPT)
def test_kept(make):
    kept = model(make)
    assert not fuse_pad_into_convolution(kept)
    assert operations(kept) == operations(model(make))


def test_a_pad_of_unknown_size_stays():
    x, begin = Parameter(Type.f32, X.shape), Parameter(Type.i64, [4])
    padded = ops.Pad(x, begin, np.int64([0, 0, 0, 0]), "constant", np.float32(0))
    assert not fuse_pad_into_convolution(Model(convolution(padded), [x, begin]))


def test_two_convolutions():
    def make(x):
        padded = pad(x)
        return ops.Concat([convolution(padded), convolution(padded)], 1)

    fused = model(make)
    assert fuse_pad_into_convolution(fused)
    assert operations(fused) == ["Convolution", "Convolution", "Concat"]
    np.testing.assert_allclose(run(fused, X)[0], run(model(make), X)[0], rtol=1e-5, atol=1e-5)
