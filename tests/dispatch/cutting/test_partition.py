"""Partition of large graphs, and the models of subgraphs."""

import numpy as np
import pytest

from hetero import Model, Parameter, Type, ops
from hetero.dispatch.cutting.partition import partition
from hetero.dispatch.cutting.parts import extract
from tests.devices import PickyPlugin, core_with


@pytest.mark.slow
def test_a_long_chain_cut_everywhere():
    """A chain of 100,000 nodes needs no recursion and linear time."""
    parameter = Parameter(Type.f32, [1])
    value = parameter.output(0)
    for _ in range(100_000):
        value = ops.Relu(value).output(0)
    model = Model(value, [parameter])
    nodes = [n for n in model.get_ordered_ops() if isinstance(n, ops.Relu)]
    subgraphs = partition(model, {n: "AB"[i % 2] for i, n in enumerate(nodes)})
    assert len(subgraphs) == 100_000


def test_constants_are_shared_by_all_subgraphs_that_read_them():
    x, weights = Parameter(Type.f32, [2, 4]), ops.Constant(np.ones([4, 4], np.float32))
    first = ops.MatMul(x, weights, False, False)
    second = ops.MatMul(first, weights, False, False)
    subgraphs = partition(Model([second], [x]), {first: "A", second: "B"})
    for subgraph in subgraphs:
        (constant,) = [n for n in extract(subgraph, "part").get_ordered_ops() if isinstance(n, ops.Constant)]
        assert constant.data is weights.data


def test_large_branches_on_two_devices_overlap():
    """A runs exp, B runs tanh; the operation on B that reads both is a step of its own, unless they are small."""
    steps = {}
    for size in (4, 4_000_000):
        x = Parameter(Type.f32, [size])
        model = Model([ops.Add(ops.Exp(x, name="exp"), ops.Tanh(x, name="tanh"), name="add")], [x])
        pins = {"AFFINITIES": {"exp": "A", "tanh": "B", "add": "B"}}
        compiled = core_with(A=PickyPlugin(), B=PickyPlugin()).compile_model(model, "HETERO:A,B", pins)
        report = compiled.get_property("PLACEMENT_REPORT")
        steps[size] = {(s.device, *s.operations) for s in report.subgraphs}
    assert steps == {4: {("A", "exp"), ("B", "tanh", "add")}, 4_000_000: {("A", "exp"), ("B", "tanh"), ("B", "add")}}
