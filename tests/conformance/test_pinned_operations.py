"""Each operation that a query names for a device can be pinned to it, with its neighbors on another device."""

import numpy as np
import pytest

from hetero import Core, Model, Parameter, Type, ops
from hetero.conformance.hard_values import assert_right, cells
from hetero.graph.rt_info import AFFINITY
from tests.devices import ALL_KINDS
from tests.tiers import in_sample

CORE = Core()
DEVICES = [device for device in ALL_KINDS if device != "TEMPLATE"]


def neighbor(value):
    """Return an operation that does not change a value."""
    both = ops.LogicalAnd if value.element_type is Type.boolean else ops.Maximum
    node = both(value, value)
    node.rt_info[AFFINITY] = "TEMPLATE"
    return node.output(0)


def sampled():
    for cell in cells():
        for device in DEVICES:
            if cell.arrays and in_sample(f"pinned {device} {cell.name}", 150):
                yield pytest.param(device, cell, id=f"{device}-{cell.name}")


@pytest.mark.own_sample
@pytest.mark.parametrize(("device", "cell"), list(sampled()))
def test_operation_alone(device, cell):
    inputs = [Parameter(cell.kind, shape, name=f"x{i}") for i, shape in enumerate(cell.operation.shapes)]
    node = cell.operation.build(*map(neighbor, [parameter.output(0) for parameter in inputs]))
    node.friendly_name = "pinned"
    model = Model([neighbor(value) for value in node.outputs()], inputs, "m")
    if "pinned" not in CORE.query_model(model, device):
        return
    node.rt_info[AFFINITY] = device
    compiled = CORE.compile_model(model, f"HETERO:{device},TEMPLATE")
    assert_right(cell, [np.array(value) for value in compiled(list(cell.arrays)).to_tuple()])
