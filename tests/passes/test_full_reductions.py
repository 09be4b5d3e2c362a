"""Reductions of all elements read the value before a Reshape."""

import numpy as np
import pytest

from hetero import Core, Model, Parameter, Type, ops
from hetero.passes import reduce_before_reshape


@pytest.mark.parametrize("reduce", [ops.ReduceMax, ops.ReduceMin])
@pytest.mark.parametrize(("shape", "axes"), [([-1], [0]), ([-1], [-1]), ([2, -1], [0, 1])])
def test_all_axes(reduce, shape, axes):
    x = Parameter(Type.f32, [2, 3, 4])
    model = Model([reduce(ops.Reshape(x, np.int64(shape), False), np.int64(axes), keep_dims=False)], [x])
    assert reduce_before_reshape(model)
    assert not any(isinstance(node, ops.Reshape) for node in model.get_ordered_ops())
    data = np.random.default_rng(0).standard_normal((2, 3, 4)).astype(np.float32)
    expected = data.max() if reduce is ops.ReduceMax else data.min()
    np.testing.assert_array_equal(Core().compile_model(model, "TEMPLATE")([data])[0], expected)


@pytest.mark.parametrize(("axes", "keeps"), [([0], False), ([0, 1], True)])
def test_others_stay(axes, keeps):
    """A reduction of one axis, and one whose result has axes of the Reshape."""
    x = Parameter(Type.f32, [2, 3, 4])
    model = Model([ops.ReduceMax(ops.Reshape(x, np.int64([6, 4]), False), np.int64(axes), keep_dims=keeps)], [x])
    assert not reduce_before_reshape(model)
