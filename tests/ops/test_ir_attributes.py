"""Attributes in IR files of the operations that OpenVINO has no factory for, or that go in pairs.

Of all others tests/ops/oracle.py compares the attributes.
"""

import numpy as np
import openvino
import pytest

import hetero
from hetero import opset3, opset6, opset15
from hetero.graph import Parameter, is_terminal
from hetero.graph.variable import Variable, VariableInfo
from tests.ops.oracle import core, ir_of_model, same_after_reading, same_attributes


def _reverse():
    x = Parameter(hetero.Type.f32, [2, 3])
    return hetero.Model([hetero.opset1.reverse(x, np.int64([1]), "index")], [x])


def _unpacked():
    x = Parameter(hetero.Type.string, [2])
    return hetero.Model(opset15.string_tensor_unpack(x).outputs(), [x])


def _variable(module, variable):
    x = Parameter(hetero.Type.f32, [2, 3])
    before = module.read_value(x, variable)
    after = module.assign(module.add(x, before), variable)
    return hetero.Model([before], [after], [x])


MODELS = {
    "Reverse": _reverse,
    "StringTensorUnpack": _unpacked,
    "variables of opset3": lambda: _variable(opset3, "kept"),
    "variables of a type and shape": lambda: _variable(
        opset6, Variable(VariableInfo("kept", hetero.Type.f32, hetero.PartialShape("[?,3]")))
    ),
}


@pytest.mark.parametrize("case", MODELS)
def test_openvino_reads_the_attributes(case):
    model = MODELS[case]()
    ir = ir_of_model(model)
    theirs = {node.get_friendly_name(): node for node in core.read_model(*ir).get_ordered_ops()}
    for node in model.get_ordered_ops():
        if not is_terminal(node) and node.get_attributes():
            same_attributes(node, theirs[node.friendly_name])
            same_after_reading(node, ir)


def test_what_is_not_said_of_a_variable_stays_unsaid(tmp_path):
    """OpenVINO writes a dynamic type and shape, and takes those of init_value when it reads them."""
    ours = _variable(opset6, "kept")
    openvino.serialize(core.read_model(*ir_of_model(ours)), tmp_path / "model.xml")
    assert 'variable_type="dynamic" variable_shape="..."' in (tmp_path / "model.xml").read_text()
    read = hetero.Core().read_model(tmp_path / "model.xml")
    assert [str(output.partial_shape) for output in read.outputs] == ["[2,3]"]
    assert [node.friendly_name for node in read.sinks] == [node.friendly_name for node in ours.sinks]
