"""Models as sections: which operations an IR can hold."""

import pytest

from hetero import Core, Parameter, Type, ops
from hetero.conformance.onnx_cases import cases, read_case
from hetero.plugin.blobs.model_sections import ir_fault


@pytest.mark.parametrize(
    ("case", "faults"),
    [
        ("test_sequence_insert_at_back", {"SequenceInsert"}),
        ("test_relu", set()),
        ("test_string_concat", set()),
    ],
)
def test_faults_of_operations(case, faults):
    model = read_case(Core(), cases("node")[case])
    found = {node.type_info.name: ir_fault(node) for node in model.get_ordered_ops()}
    assert faults == {name for name, fault in found.items() if fault} - {"Parameter", "Result"}
    for name in faults:
        assert "which IR files cannot hold" in found[name]


def test_a_name_that_xml_cannot_hold():
    x = Parameter(Type.f32, [2])
    assert "XML cannot hold the character" in ir_fault(ops.Relu(x, name="a\x00b")) and ir_fault(ops.Relu(x)) is None
