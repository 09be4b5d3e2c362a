"""The factories of every operation set have OpenVINO's parameters: names, order and defaults."""

import inspect
from importlib import import_module
from types import ModuleType

import numpy as np
import pytest

from hetero.ops.opsets import OPSETS
from hetero.opset_modules import make_modules

# OpenVINO's overloaded classes, whose parameters cannot be inspected; Parameter has its own test.
UNTOLD = {"assign", "if_op", "loop", "read_value", "reverse", "tensor_iterator", "parameter", "constant", "result"}
# Attributes and inputs that OpenVINO's factories cannot set.
NOT_IN_FACTORY = {
    "divide": {"m_pythondiv"}, "search_sorted": {"output_type"}, "mvn": {"reduction_axes"},
    "scaled_dot_product_attention": {"sink"}, "lstm_cell": {"P", "weights_format", "input_forget"},
}  # fmt: skip
# TopK-1 has this attribute, but only newer factories set it.
NOT_IN_OLD_FACTORY = {"topk": {"index_element_type"}}
# In files Squeeze-1 may have no axes, but OpenVINO's factory requires them. The value is the first opset that agrees.
ALIKE_SINCE = {"squeeze": 15}


def factories(module: ModuleType) -> dict:
    """Return the factories of a module by name, without the classes."""
    names = [name for name in dir(module) if name[0].islower() and callable(getattr(module, name))]
    return {name: getattr(module, name) for name in names}


OURS = {opset: factories(make_modules()[f"opset{opset}"]) for opset in OPSETS}
THEIRS = {opset: factories(import_module(f"openvino.opset{opset}")) for opset in OPSETS}


def test_no_factory_is_missing():
    assert {name for opset in OPSETS for name in THEIRS[opset].keys() - OURS[opset].keys()} == set()


def parameters(factory, left_out: set[str]) -> list[tuple]:
    return [(p.name, p.default) for p in inspect.signature(factory).parameters.values() if p.name not in left_out]


@pytest.mark.parametrize("opset", OPSETS)
def test_parameters(opset):
    names = THEIRS[opset].keys() & OURS[opset].keys() - UNTOLD
    names -= {name for name, since in ALIKE_SINCE.items() if opset < since}
    found, expected = {}, {}
    for name in names:
        left_out = NOT_IN_FACTORY.get(name, set()) | (NOT_IN_OLD_FACTORY.get(name, set()) if opset < 3 else set())
        found[name] = parameters(OURS[opset][name], left_out)
        expected[name] = parameters(THEIRS[opset][name], left_out)
    assert {name: found[name] for name in names if found[name] != expected[name]} == {}


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
    """The same code gives the same model with either module."""
    made = []
    for package in ("openvino", "hetero"):
        opset, ov = import_module(f"{package}.opset13"), import_module(package)
        x = opset.parameter([-1, 3], np.float32, name="x")
        y = opset.relu(opset.add(x, opset.constant([[1.0, 2.0, 3.0]], np.float32)))
        model = ov.Model([y], [x], "model")
        made.append((str(model.input(0).partial_shape), str(model.output(0).partial_shape), model.friendly_name))
    assert made[0] == made[1]
