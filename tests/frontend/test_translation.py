"""OperatorTable: translators by domain, operator type and version, as functions and as rows."""

from hetero import Parameter, Type, ops
from hetero.frontend.translation.translators import Attr, OperatorTable, OptionalInput, Row
from tests.frontend.toy import ToyNode


def test_the_newest_translator_that_is_not_newer_than_the_model_is_used():
    registry = OperatorTable()
    for since in (1, 7):
        registry.register("Scale", since=since)(f"from {since}")
    assert [registry.find("Scale", version) for version in (1, 6, 7, 20)] == ["from 1"] * 2 + ["from 7"] * 2
    assert registry.find("Other", 1) is None


def test_each_domain_has_its_own_operators():
    registry = OperatorTable()
    registry.register("Scale")("onnx's")
    registry.register("Scale", "Shift", domain="org.me")("mine")
    assert registry.find("Scale", 13) == "onnx's"
    assert registry.find("Scale", 1, "org.me") == registry.find("Shift", 1, "org.me") == "mine"
    assert registry.find("Shift", 13) is None


def node_of(op_type, inputs, **attributes):
    names = [f"value{index}" for index in range(len(inputs))]
    described = {"type": op_type, "inputs": names, "outputs": ["result"], "attributes": attributes}
    return ToyNode(described, dict(zip(names, inputs)))


def test_a_row_reads_inputs_and_attributes():
    table, value = OperatorTable(), Parameter(Type.f32, [2]).output(0)
    table.register_rows({"Elu": [Row(ops.Elu, alpha=Attr("slope", 1.0)), Row(ops.Elu, 1, since=6, alpha=0.5)]})
    first, second = table.find("Elu", 5), table.find("Elu", 7)
    assert first(node_of("Elu", [value], slope=3.0)).alpha == 3.0
    assert first(node_of("Elu", [value])).alpha == 1.0
    other = Parameter(Type.f32, [3]).output(0)
    newer = second(node_of("Elu", [value, other], slope=3.0))
    assert (newer.alpha, newer.input_value(0)) == (0.5, other)


def test_a_row_maps_values_of_attributes():
    value = Parameter(Type.f32, [1, 4, 2, 2]).output(0)
    row = Row(ops.DepthToSpace, block_size=2, mode=Attr("mode", "DCR", values={"DCR": "blocks_first"}))
    assert row(node_of("DepthToSpace", [value])).mode == "blocks_first"
    assert row(node_of("DepthToSpace", [value], mode="depth_first")).mode == "depth_first"


def test_a_row_reads_optional_inputs():
    row = Row(ops.Swish, 0, OptionalInput(1))
    values = [Parameter(Type.f32, shape).output(0) for shape in ([2], [])]
    assert row(node_of("Silu", values)).input_values() == values
    assert row(node_of("Silu", values[:1])).input_values() == values[:1]


def test_a_row_passes_lists_of_inputs_and_dicts_of_attributes():
    values = [Parameter(Type.f32, [2, 3, 4, 5]).output(0), Parameter(Type.f32, [2, 3, 4, 5]).output(0)]
    joined = Row(ops.Concat, axis=Attr("dim"))(node_of("Cat", values, dim=2))
    assert (joined.input_values(), joined.axis) == (values, 2)
    infinite = Row(ops.IsInf, detect_negative=Attr("lower"))(node_of("IsInf", values[:1], lower=False))
    assert (infinite.detect_negative, infinite.detect_positive) == (False, True)


def test_a_convention_reads_the_inputs_of_rows():
    table, value = OperatorTable(), Parameter(Type.f32, [2]).output(0)
    table.register_rows({"Neg": Row(ops.Negative)}, lambda row: lambda node: row.make(node, [value]))
    assert table.find("Neg")(node_of("Neg", [])).input_value(0) == value
