"""Partitions of random graphs: acyclic, each node once, and with the results of a single device."""

import networkx
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from hetero.dispatch.cutting.partition import partition
from hetero.dispatch.cutting.parts import extract
from hetero.graph import is_terminal
from hetero.graph.rt_info import AFFINITY
from tests.devices import PickyPlugin, core_with
from tests.dispatch.random_graphs import DEVICES, inputs_of, placed_graphs


def cut(model):
    nodes = [node for node in model.get_ordered_ops() if not is_terminal(node)]
    return nodes, partition(model, {node: node.rt_info[AFFINITY] for node in nodes})


@settings(max_examples=100)
@given(placed_graphs())
def test_subgraphs_are_acyclic_and_hold_each_node_once(model):
    nodes, subgraphs = cut(model)
    assert sorted(n.friendly_name for s in subgraphs for n in s.nodes) == sorted(n.friendly_name for n in nodes)
    assert all(n.rt_info[AFFINITY] == s.device for s in subgraphs for n in s.nodes)
    home = {n: i for i, s in enumerate(subgraphs) for n in s.nodes}
    edges = [(home[v.node], home[n]) for n in nodes for v in n.input_values() if v.node in home]
    assert networkx.is_directed_acyclic_graph(networkx.DiGraph([(a, b) for a, b in edges if a != b]))
    assert all(a <= b for a, b in edges)  # the order is topological


@settings(max_examples=50)
@given(placed_graphs())
def test_subgraph_ports_have_the_information_of_the_whole_model(model):
    """The inputs and outputs of a subgraph have the types, shapes, names and contents of the whole model."""
    for node in model.get_ordered_ops():
        for output in node.outputs():
            output.names = {f"tensor {node.friendly_name}.{output.index}"}
    for index, subgraph in enumerate(cut(model)[1]):
        part = extract(subgraph, f"{index}")
        found = [*part.inputs, *(result.input_value(0) for result in part.results)]
        for value, port in zip([*subgraph.inputs, *subgraph.outputs], found, strict=True):
            assert (port.element_type, port.partial_shape) == (value.element_type, value.partial_shape)
            assert port.names == value.names
            np.testing.assert_array_equal(port.value, value.value)


@settings(max_examples=60)
@given(placed_graphs(), st.integers(1, 4))
def test_any_cut_gives_the_results_of_one_device(model, rows):
    """The results are also the same in later inferences, with other dynamic shapes and with variables."""
    core = core_with(**{name: PickyPlugin() for name in DEVICES})
    whole = core.compile_model(model, "A").create_infer_request()
    parts = core.compile_model(model, f"HETERO:{','.join(DEVICES)}").create_infer_request()
    for seed in range(2):
        inputs = inputs_of(model, rows + seed, seed)
        expected, found = whole.infer(inputs).to_tuple(), parts.infer(inputs).to_tuple()
        for one, other in zip(expected, found, strict=True):
            np.testing.assert_array_equal(other, one)
    states = {state.name: state.state.data for state in whole.query_state()}
    assert states.keys() == {state.name for state in parts.query_state()}
    for state in parts.query_state():
        np.testing.assert_array_equal(state.state.data, states[state.name])


KIND_NAMES = [
    "Relu",
    "Add",
    "ShapeOf",
    "Gather",
    "Concat",
    "Reshape",
    "Convert",
    "If",
    "Loop",
    "ReadValue",
    "SequenceAt",
]


@settings(max_examples=50)
@given(placed_graphs(), st.sets(st.sampled_from(KIND_NAMES)), st.sets(st.sampled_from(KIND_NAMES)), st.integers(0, 3))
def test_pins_mix_with_automatic_placement_on_devices_that_cannot_run_all(model, not_a, not_b, kept):
    """Possible pins are kept, the query agrees with the compilation, and the results are those of one device."""
    refused = {"A": not_a, "B": not_b, "C": set(), "D": set()}
    core = core_with(
        **{name: PickyPlugin(lambda node, no=no: node.type_info.name not in no) for name, no in refused.items()}
    )
    able = {name: core.query_model(model, name) for name in DEVICES}
    nodes = {node.friendly_name: node for node in model.get_ordered_ops() if not is_terminal(node)}
    pins = {}
    for index, (name, node) in enumerate(nodes.items()):
        device = node.rt_info.pop(AFFINITY)
        in_group = node.type_info.name in ("ReadValue", "Assign")
        if index % 4 < kept and not in_group and name in able[device]:
            pins[name] = node.rt_info[AFFINITY] = device
    queried = core.query_model(model, "HETERO:A,B,C,D")
    compiled = core.compile_model(model, "HETERO:A,B,C,D")
    found = {o.name: o for o in compiled.get_property("PLACEMENT_REPORT").operations}
    assert {name: found[name].device for name in pins} == pins
    assert {name: where.device for name, where in found.items()} == {name: queried[name] for name in found}
    inputs = inputs_of(model, 3)
    for one, other in zip(core.compile_model(model, "C")(inputs).to_tuple(), compiled(inputs).to_tuple(), strict=True):
        np.testing.assert_array_equal(other, one)
