"""Reshaping of models whose files have the batch size in a constant, as OpenVINO does it."""

from importlib import import_module

import numpy as np
import pytest

import hetero
from hetero.system.errors import GraphError

WEIGHTS = np.random.default_rng(0).standard_normal((18, 4)).astype(np.float32)


def make(package, transposed=False, also_read_by=None):
    """Return a model with a Reshape to [1, 18] before a matrix product."""
    ops = import_module(f"{package}.opset13")
    x = ops.parameter([1, 2, 3, 3], np.float32)
    rows = ops.reshape(ops.relu(x), np.array([1, 18], np.int64), False)
    product = ops.matmul(rows, ops.constant(WEIGHTS.T.copy() if transposed else WEIGHTS), False, transposed)
    results = [product] if also_read_by is None else [product, getattr(ops, also_read_by)(rows)]
    return import_module(package).Model(results, [x])


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("batch", [2, -1])
def test_batch(batch, transposed):
    ours, theirs = (make(package, transposed) for package in ("hetero", "openvino"))
    for model in (ours, theirs):
        model.reshape([batch, 2, 3, 3])
    assert str(ours.output(0).partial_shape) == str(theirs.output(0).partial_shape)
    x = np.random.default_rng(1).standard_normal((2, 2, 3, 3)).astype(np.float32)
    expected = np.maximum(x, 0).reshape(2, 18) @ WEIGHTS
    for device in ("TEMPLATE", "BATCH:TEMPLATE(2)"):
        np.testing.assert_allclose(hetero.Core().compile_model(ours, device)(x)[0], expected, rtol=1e-5, atol=1e-5)


def test_rows_that_something_else_reads_are_kept():
    model = make("hetero", also_read_by="exp")
    with pytest.raises(GraphError, match=r"cannot take the shape \[1,18\]"):
        model.reshape([2, 2, 3, 3])
    assert str(model.output(0).partial_shape) == "[1,4]"


def test_a_shape_that_does_not_fit_changes_nothing():
    model = make("hetero")
    with pytest.raises(GraphError):
        model.reshape([2, 2, 3, 5])
    (shape,) = (node.input_value(1).node for node in model.get_ops() if node.get_type_name() == "Reshape")
    assert shape.data.tolist() == [1, 18] and str(model.output(0).partial_shape) == "[1,4]"
