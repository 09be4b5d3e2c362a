"""Slopes of PRelu along the channels are reshaped to broadcast by numpy's rule; others stay."""

import numpy as np
import pytest

from hetero import Model, PartialShape, Type, ops
from hetero.passes import align_prelu_slopes


@pytest.mark.parametrize(
    ("data", "slope", "expected"),
    [
        ("[2,3,4,5]", [3], "[3,1,1]"),
        ("[2,?,4]", [3], "[3]"),  # numpy broadcasts it if there is one channel
        ("[2,3,4]", [4], "[4]"),  # as long as the last axis, not as the channels
        ("[2,3,4]", [1], "[1]"),
        ("[2,3]", [3], "[3]"),
        ("[2,3,4]", [3, 1], "[3,1]"),
        ("[...]", [3], "[3]"),
    ],
)
def test_slopes(data, slope, expected):
    parameter = ops.Parameter(Type.f32, PartialShape(data))
    model = Model([ops.PRelu(parameter, np.ones(slope, np.float32))], [parameter])
    changed = align_prelu_slopes(model)
    assert str(model.result.input_value(0).node.get_input_partial_shape(1)) == expected
    assert changed == (PartialShape(expected) != PartialShape(slope))
