"""Cutting large graphs, and what a subgraph becomes on its own."""

import numpy as np

from hetero import Model, Parameter, Type, ops
from hetero.dispatch.partition import extract, partition


def test_a_long_chain_cut_everywhere():
    """100,000 nodes in a chain are a normal model: no recursion, linear time."""
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


def test_a_device_each_branch_and_one_of_them_where_they_meet():
    """The branches do not wait for each other."""
    x = Parameter(Type.f32, [4])
    one, other = ops.Relu(ops.Exp(x)), ops.Tanh(ops.Abs(x))
    model = Model([ops.Add(one, other)], [x])
    placed = [n for n in model.get_ordered_ops() if n.get_input_size() and n is not model.results[0]]
    subgraphs = partition(model, {n: "B" if n.type_info.name in ("Tanh", "Abs", "Add") else "A" for n in placed})
    assert [{n.type_info.name for n in s.nodes} for s in subgraphs] == [{"Tanh", "Abs"}, {"Exp", "Relu"}, {"Add"}]
