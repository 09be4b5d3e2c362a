"""Affinity: pins, patterns and groups, the same for query_model as for compile_model."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hetero import Model, Parameter, Type, ops
from hetero.graph import walk_nested
from hetero.graph.rt_info import AFFINITY
from hetero.system.errors import DeviceError
from tests.devices import PickyPlugin, core_with

DEVICES = ("A", "B", "C")


def picky(*refused: str) -> PickyPlugin:
    return PickyPlugin(lambda node: node.friendly_name not in refused)


def pinned(model: Model, pins) -> Model:
    for node in walk_nested(model.get_ordered_ops()):
        if node.friendly_name in pins:
            node.rt_info[AFFINITY] = pins[node.friendly_name]
    return model


def remembering() -> Model:
    """Two variables; the operation ``if`` sets one of them in its body, so three nodes belong to "count"."""
    x = Parameter(Type.f32, [4], name="x")
    count = ops.ReadValue(np.zeros(4, np.float32), "count", name="count")
    total = ops.ReadValue(np.zeros(4, np.float32), "total", name="total")
    last = ops.Relu(ops.Add(total, x, name="add"), name="relu")
    assigned = ops.Assign(last, "total", name="set_total")
    condition = ops.Greater(ops.ReduceSum(x, np.int64([0]), name="sum"), np.float32(0), name="positive")
    return Model([ops.Add(_step(condition, count), last, name="out")], [x], "remembering", sinks=[assigned])


def _step(condition, count):
    chosen = ops.If(condition, name="if")
    given, other = Parameter(Type.f32, [4], name="inner"), Parameter(Type.f32, [4], name="inner")
    bump = ops.Assign(ops.Add(given, np.float32(1), name="bump"), "count", name="set_count")
    chosen.set_then_body(Model([ops.Result(bump)], [given], "then"))
    chosen.set_else_body(Model([ops.Result(ops.Relu(other, name="keep"))], [other], "else"))
    chosen.set_input(count.output(0), given, other)
    chosen.set_output(chosen.get_function(0).results[0], chosen.get_function(1).results[0])
    return chosen


@pytest.mark.parametrize(
    ("pins", "expected"),
    [
        ({}, {"total": "A", "set_total": "A", "count": "A", "if": "A"}),
        ({"set_total": "B"}, {"total": "B", "set_total": "B", "count": "A", "if": "A"}),
        ({"if": "B", "total": "C"}, {"total": "C", "set_total": "C", "count": "B", "if": "B"}),
        ({"bump": "C"}, {"total": "A", "set_total": "A", "count": "C", "if": "C"}),
        ({"count": "C", "if": "C", "bump": "C"}, {"total": "A", "count": "C", "if": "C"}),
    ],
)
def test_a_group_runs_where_one_of_its_nodes_is_pinned(pins, expected):
    core = core_with(**{name: PickyPlugin() for name in DEVICES})
    compiled = core.compile_model(pinned(remembering(), pins), "HETERO:A,B,C")
    found = {o.name: o for o in compiled.get_property("PLACEMENT_REPORT").operations}
    assert {name: found[name].device for name in expected} == expected
    assert {n: found[n].reason for n in pins if n in found} == {n: "pinned" for n in pins if n in found}
    request = compiled.create_infer_request()
    x = np.float32([1, 2, 3, 4])
    for times in (1, 2, 3):
        np.testing.assert_array_equal(request.infer([x])[0], times * x + times)


@pytest.mark.parametrize(
    ("pins", "refused", "message"),
    [
        (
            {"total": "A", "set_total": "B"},
            (),
            "^variable 'total' must be on one device, but 'total' is pinned to A and 'set_total' is pinned to B; "
            "able: A, B, C$",
        ),
        ({"count": "A", "if": "B"}, ("count",), "variable 'count' .*'count' is pinned to A and 'if'.* able: B, C$"),
        ({"if": "A", "keep": "B"}, (), "variable 'count' .*'if' is pinned to A and 'keep' is pinned to B"),
        ({"set_total": "A"}, ("total",), "'set_total' is pinned to .* cannot run 'total' .A: .*; able: B, C$"),
        ({"total": "A"}, ("total",), "'total' is pinned to a device that cannot run it .A: A is picky.; able: B, C$"),
        ({"relu": "D"}, ("relu",), "'relu' is pinned to D, which is not among the devices A, B, C; able: B, C$"),
    ],
)
def test_impossible_pins_name_the_node_and_the_able_devices(pins, refused, message):
    core = core_with(A=picky(*refused), B=PickyPlugin(), C=PickyPlugin())
    model = pinned(remembering(), pins)
    with pytest.raises(DeviceError, match=message):
        core.compile_model(model, "HETERO:A,B,C")
    with pytest.raises(DeviceError, match=message):
        core.query_model(model, "HETERO:A,B,C")


def test_a_pattern_that_matches_only_in_a_body_names_the_outer_operation():
    core = core_with(A=PickyPlugin())
    with pytest.raises(DeviceError, match="'bum\\*' matches no operation .* but in a body of 'if', which runs whole"):
        core.compile_model(remembering(), "HETERO:A", {"AFFINITIES": {"bum*": "A"}})


def test_a_group_that_no_device_supports_as_a_whole_is_refused_with_reasons():
    core = core_with(A=picky("total"), B=picky("set_total"))
    found = core.query_model(remembering(), "HETERO:A,B")
    assert "total" not in found and "set_total" not in found and found["relu"] == "A"
    assert found.refused["total"] == "A: A is picky; B: cannot run 'set_total' of variable 'total'"


NAMES = ["total", "add", "relu", "set_total", "sum", "positive", "count", "if", "out"]


@settings(max_examples=60)
@given(
    st.dictionaries(st.sampled_from(NAMES), st.sampled_from(DEVICES), max_size=5),
    st.dictionaries(st.sampled_from([*NAMES, "*o*", "set_*"]), st.sampled_from(DEVICES), max_size=2),
    st.sets(st.sampled_from(NAMES), max_size=3),
)
def test_query_and_compile_agree_for_any_pins(pins, patterns, refused):
    """Both give the same devices or raise the same error; the result of a query, taken as pins, is kept."""
    core = core_with(A=picky(*refused), B=picky(*sorted(refused)[:1]), C=PickyPlugin())
    model, options = pinned(remembering(), pins), {"AFFINITIES": patterns}
    try:
        queried = core.query_model(model, "HETERO:A,B,C", options)
    except DeviceError as error:
        with pytest.raises(DeviceError) as raised:
            core.compile_model(model, "HETERO:A,B,C", options)
        assert str(raised.value) == str(error)
        return
    for answered in (model, pinned(remembering(), queried)):
        compiled = core.compile_model(answered, "HETERO:A,B,C", options)
        found = {o.name: o.device for o in compiled.get_property("PLACEMENT_REPORT").operations}
        assert found == {name: queried[name] for name in found}
        assert set(NAMES) <= found.keys()
