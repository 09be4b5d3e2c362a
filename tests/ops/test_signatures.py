"""The factories take what OpenVINO's take: names, order and defaults."""

import inspect
from importlib import import_module

import pytest

from hetero.ops.opsets import classes_in, opset_of, snake_case

NEWEST = 16
# Squeeze has had optional axes since opset1; the newer one differs in an attribute.
OF_ANOTHER_OPSET = {"Squeeze"}
CLASSES = {name: cls for name, cls in classes_in(NEWEST).items() if name not in OF_ANOTHER_OPSET}


@pytest.mark.parametrize("name", CLASSES)
def test_parameters(name):
    cls = CLASSES[name]
    module = import_module(f"openvino.opset{max(13, opset_of(cls))}")
    if not hasattr(module, snake_case(name)):
        module = import_module(f"openvino.opset{opset_of(cls)}")
    if name in ("Parameter", "Constant", "Result"):
        assert hasattr(module, snake_case(name))
        return
    ours = list(cls.signature().parameters.values())
    if name == "Divide":
        ours.pop()  # m_pythondiv, which OpenVINO's operation has but its factory cannot set
    theirs = inspect.signature(getattr(module, snake_case(name))).parameters.values()
    assert [(p.name, p.default) for p in ours] == [(p.name, p.default) for p in theirs if p.name != "name"]
