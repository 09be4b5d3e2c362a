"""The factories take what OpenVINO's take: names, order and defaults."""

import inspect
from importlib import import_module

import numpy as np
import pytest

from hetero.ops.opsets import classes_in, opset_of, snake_case

NEWEST = 16
# Squeeze has had optional axes since opset1; the newer one differs in an attribute.
OF_ANOTHER_OPSET = {"Squeeze"}
# These have factories of their own, and a Result's input is called otherwise there.
ENDS = {"Parameter", "Constant", "Result"}
# OpenVINO has no factory, or a class or an overloaded one, of which Python cannot tell the parameters.
UNTOLD = {"Assign", "If", "Loop", "ReadValue", "Reverse", "TensorIterator"}
# The last attribute, m_pythondiv and output_type, is one of OpenVINO's operation that its factory cannot set.
LAST_NOT_IN_FACTORY = {"Divide", "SearchSorted"}
LEFT_OUT = OF_ANOTHER_OPSET | ENDS | UNTOLD
CLASSES = {name: cls for name, cls in classes_in(NEWEST).items() if name not in LEFT_OUT}


@pytest.mark.parametrize("name", CLASSES)
def test_parameters(name):
    cls = CLASSES[name]
    module = import_module(f"openvino.opset{max(13, opset_of(cls))}")
    if not hasattr(module, snake_case(name)):
        module = import_module(f"openvino.opset{opset_of(cls)}")
    ours = list(cls.signature().parameters.values())
    if name in LAST_NOT_IN_FACTORY:
        ours.pop()
    theirs = inspect.signature(getattr(module, snake_case(name))).parameters.values()
    assert [(p.name, p.default) for p in ours] == [(p.name, p.default) for p in theirs if p.name != "name"]


def test_parameters_of_parameter():
    theirs, ours = (inspect.signature(import_module(f"{m}.opset13").parameter) for m in ("openvino", "hetero"))
    assert [(p.name, p.default) for p in ours.parameters.values()] == [
        (p.name, p.default) for p in theirs.parameters.values()
    ]


@pytest.mark.parametrize("arguments", [(1.5,), ([1, 2],), ([1, 2], np.float32), (np.eye(2, dtype=np.int8),)], ids=str)
def test_constants_have_the_types_of_openvinos(arguments):
    theirs, ours = (import_module(f"{m}.opset13").constant(*arguments) for m in ("openvino", "hetero"))
    assert ours.get_element_type().to_string() == theirs.get_element_type().to_string()
    np.testing.assert_array_equal(ours.data, theirs.data)


def test_a_model_written_for_openvino():
    """The same lines with either module give the same model."""
    made = []
    for package in ("openvino", "hetero"):
        opset, ov = import_module(f"{package}.opset13"), import_module(package)
        x = opset.parameter([-1, 3], np.float32, name="x")
        y = opset.relu(opset.add(x, opset.constant([[1.0, 2.0, 3.0]], np.float32)))
        model = ov.Model([y], [x], "model")
        made.append((str(model.input(0).partial_shape), str(model.output(0).partial_shape), model.friendly_name))
    assert made[0] == made[1]
