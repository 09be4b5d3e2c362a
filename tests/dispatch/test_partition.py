"""Cuts of random graphs: acyclic, each node once, and the result that of one device."""

import networkx
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from hetero import Model, Parameter, Type, ops
from hetero.dispatch.partition import partition
from hetero.graph.runtime_info import AFFINITY
from tests.devices import PickyPlugin, core_with

DEVICES = ("A", "B", "C")


@st.composite
def placed_graphs(draw) -> Model:
    """A graph of element-wise operations with shared constants, diamonds and several outputs, and a pin on each."""
    values = [Parameter(Type.f32, draw(st.sampled_from([[2, 3], [-1, 3]])), name=f"p{i}").output(0) for i in range(2)]
    parameters = [value.node for value in values]
    values.append(ops.Constant(np.float32([[1, -2, 3]])).output(0))
    for index in range(draw(st.integers(1, 25))):
        kind = draw(st.sampled_from([ops.Add, ops.Multiply, ops.Maximum, ops.Relu, ops.Split]))
        sources = [values[draw(st.integers(0, len(values) - 1))] for _ in range(2)]
        if kind is ops.Split and sources[0].partial_shape[1] == 3:
            node = ops.Split(sources[0], np.int64(1), 3)
        elif kind is ops.Split:
            node = ops.Relu(sources[0])
        else:
            node = kind(*sources[: len(kind.inputs_declared)])
        node.friendly_name = f"n{index}"
        node.rt_info[AFFINITY] = draw(st.sampled_from(DEVICES))
        values += node.outputs()
    count = draw(st.integers(1, 4))
    results = draw(st.lists(st.sampled_from(values), min_size=count, max_size=count))
    return Model(results, parameters, "random")


@settings(max_examples=150, deadline=None)
@given(placed_graphs())
def test_subgraphs_are_acyclic_and_hold_each_node_once(model):
    nodes = [n for n in model.get_ordered_ops() if AFFINITY in n.rt_info]
    subgraphs = partition(model, {n: n.rt_info[AFFINITY] for n in nodes})
    assert sorted(n.friendly_name for s in subgraphs for n in s.nodes) == sorted(n.friendly_name for n in nodes)
    assert all(n.rt_info[AFFINITY] == s.device for s in subgraphs for n in s.nodes)
    home = {n: i for i, s in enumerate(subgraphs) for n in s.nodes}
    edges = [(home[v.node], home[n]) for n in nodes for v in n.input_values() if v.node in home]
    assert networkx.is_directed_acyclic_graph(networkx.DiGraph([(a, b) for a, b in edges if a != b]))
    assert all(a <= b for a, b in edges)  # the order given is one in which they can run


@settings(max_examples=60, deadline=None)
@given(placed_graphs(), st.integers(1, 4))
def test_any_cut_computes_what_one_device_does(model, rows):
    core = core_with(**{name: PickyPlugin() for name in DEVICES})
    shape = [2 if model.parameters[0].partial_shape.is_static else rows, 3]
    inputs = [np.random.default_rng(i).standard_normal(shape).astype(np.float32) for i in range(2)]
    if model.parameters[0].partial_shape != model.parameters[1].partial_shape:
        inputs = [np.random.default_rng(i).standard_normal([2, 3]).astype(np.float32) for i in range(2)]
    whole = core.compile_model(model, "A")(inputs).to_tuple()
    cut = core.compile_model(model, "HETERO:A,B,C")(inputs).to_tuple()
    for expected, found in zip(whole, cut, strict=True):
        np.testing.assert_array_equal(found, expected)


def test_a_long_chain_cut_everywhere():
    """100,000 nodes in a chain are a normal model: no recursion, linear time."""
    parameter = Parameter(Type.f32, [1])
    value = parameter.output(0)
    for _ in range(100_000):
        value = ops.Relu(value).output(0)
    model = Model(value, [parameter])
    nodes = [n for n in model.get_ordered_ops() if isinstance(n, ops.Relu)]
    subgraphs = partition(model, {n: DEVICES[i % 2] for i, n in enumerate(nodes)})
    assert len(subgraphs) == 100_000
