"""Comparison of operations with OpenVINO: the same factory is called with the same arguments in both packages.

In the arguments a numpy array is a Constant, ``Data(array)`` a Parameter with the array as its input, and
``Unknown(shape)`` a Parameter without data. A list of these is a list of inputs; everything else is an attribute.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from xml.etree import ElementTree

import numpy as np
import openvino
import pytest

import hetero
from hetero.frontend.ir import IrFrontEnd
from hetero.frontend.ir.attributes import attribute_text
from hetero.frontend.ir.weights import WeightsWriter
from hetero.frontend.ir.writer import model_element
from hetero.graph import Constant, Node, Parameter
from hetero.opset_modules import make_modules
from hetero.reference import evaluate
from tests.ops.through_onnx import is_checked_in_onnx, same_in_onnx

core = openvino.Core()

# Attributes that OpenVINO changes at shape inference: it resolves pads by auto_pad, pads them with zeros, and makes
# axes non-negative.
INFERRED_ATTRIBUTES = {"pads_begin", "pads_end", "axis"}


@dataclass
class Data:
    array: np.ndarray


@dataclass
class Unknown:
    shape: Any
    dtype: Any = np.float32


def in_openvino(name: str, opset: int, arguments: tuple, keywords: dict):
    """Return OpenVINO's node and its Parameters."""
    factories = import_module(f"openvino.opset{opset}")

    def parameter(shape, dtype):
        return factories.parameter(openvino.PartialShape(shape), openvino.Type(dtype))

    return _build(getattr(factories, name), parameter, factories.constant, arguments, keywords)


def in_hetero(name: str, opset: int, arguments: tuple, keywords: dict, dynamic: str = ""):
    """Return hetero's node and its Parameters; ``dynamic`` makes their "rank" or "lengths" unknown."""
    factory = getattr(make_modules()[f"opset{opset}"], name)

    def parameter(shape, dtype):
        given = {"": shape, "rank": None, "lengths": [-1] * len(shape)}
        return Parameter(hetero.Type(dtype), hetero.PartialShape(given[dynamic]))

    return _build(factory, parameter, Constant, arguments, keywords)


def same_results(name: str, *arguments, opset: int = 13, tolerance: float = 1e-5, **keywords) -> None:
    """Assert that types, shapes, attributes and results equal those of OpenVINO's CPU device, which runs hetero's IR.

    The results are compared with static and with dynamic input shapes, and with those of a written ONNX model.
    """
    arrays = [value.array for value in _given(arguments, keywords) if isinstance(value, Data)]
    ours, parameters = in_hetero(name, opset, arguments, keywords)
    written = ir_of(ours, parameters)
    compiled = core.compile_model(core.read_model(*written), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    results = compiled(arrays)
    expected = [np.array(results[output]) for output in compiled.outputs]
    if is_checked_in_onnx(name, opset):
        same_in_onnx(ours, parameters, arrays, expected, tolerance)
    same_shapes(name, *arguments, opset=opset, **keywords)
    same_after_reading(ours, written)
    same_after_reading(ours, ir_of_openvino(*in_openvino(name, opset, arguments, keywords)))
    for dynamic in ("", "rank", "lengths"):
        ours, parameters = in_hetero(name, opset, arguments, keywords, dynamic)
        results = run(ours, parameters, arrays)
        for found, wanted in zip(results, expected, strict=True):
            assert found.dtype == wanted.dtype
            assert found.shape == wanted.shape
            np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance)
        symbols_hold(ours, results, parameters, arrays)


def symbols_hold(node: Node, results: list[np.ndarray], parameters: list[Parameter], arrays: list[np.ndarray]) -> None:
    """Assert that output dimensions with the symbol of an input dimension have its length."""
    inputs = [(parameter.output(0).partial_shape, array) for parameter, array in zip(parameters, arrays)]
    lengths = {d.symbol: length for shape, array in inputs if shape.has_rank for d, length in zip(shape, array.shape)}
    for output, result in zip(node.outputs(), results):
        shape = output.partial_shape
        if shape.has_rank and len(shape) == result.ndim:  # Squeeze may keep dimensions
            assert all(lengths[d.symbol] == length for d, length in zip(shape, result.shape) if d.symbol)


def through_ir(node: Node, parameters: list[Parameter]) -> openvino.Model:
    """Convert a node of Parameters and Constants to a model of OpenVINO through hetero's IR."""
    return core.read_model(*ir_of(node, parameters))


def ir_of(node: Node, parameters: list[Parameter]) -> tuple[bytes, bytes]:
    """Return hetero's IR of a model of one node of Parameters and Constants."""
    return ir_of_model(hetero.Model(node.outputs(), parameters))


def ir_of_model(model: hetero.Model) -> tuple[bytes, bytes]:
    """Return hetero's IR of a model."""
    weights = BytesIO()
    net = model_element(model, WeightsWriter(weights))
    return ElementTree.tostring(net), weights.getvalue()


def ir_of_openvino(node: openvino.Node, parameters: list[openvino.Node]) -> tuple[bytes, bytes]:
    """Return OpenVINO's IR of a node."""
    model = openvino.Model(node.outputs(), parameters)
    with TemporaryDirectory() as folder:
        openvino.serialize(model, f"{folder}/model.xml")
        return Path(folder, "model.xml").read_bytes(), Path(folder, "model.bin").read_bytes()


def same_after_reading(node: Node, ir: tuple[bytes, bytes]) -> None:
    """Assert that reading the IR gives a node with the types, shapes and attributes of this one."""
    read = next(n for n in IrFrontEnd().convert(*ir).get_ordered_ops() if n.type_info == node.type_info)
    assert [(o.element_type, o.partial_shape) for o in read.outputs()] == [
        (o.element_type, o.partial_shape) for o in node.outputs()
    ]
    found, expected = read.get_attributes(), node.get_attributes()
    for name in expected.keys() - INFERRED_ATTRIBUTES:
        assert _plain(found[name]) == pytest.approx(_plain(expected[name])), name


def same_attributes(ours: Node, theirs: openvino.Node) -> None:
    """Assert that the attributes have OpenVINO's names and values in IR files."""
    found = {attribute.ir_name: getattr(ours, attribute.name) for attribute in ours.attributes_declared}
    expected = theirs.get_attributes()
    assert {name for name, value in found.items() if value is not None} == expected.keys()
    for name in expected.keys() - INFERRED_ATTRIBUTES:
        wanted = expected[name]
        assert _plain(found[name]) == pytest.approx(_plain(wanted)), name


def _plain(value: Any) -> Any:
    """Convert an attribute to a value that is equal in both packages: numbers, lists, lower-case names."""
    if isinstance(value, hetero.PartialShape):
        return [dimension.get_length() if dimension.is_static else -1 for dimension in value]
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value if isinstance(value, (bool, int, float)) else attribute_text(value).lower()


def run(node: Node, parameters: list[Parameter], arrays: list[np.ndarray]) -> list[np.ndarray]:
    """Return the results of one node of Parameters and Constants."""
    fed = dict(zip(parameters, arrays, strict=True))
    sources = [output.node for output in node.input_values()]
    return evaluate(node, [source.data if isinstance(source, Constant) else fed[source] for source in sources])


def same_shapes(name: str, *arguments, opset: int = 13, expected: list[str] | None = None, **keywords) -> None:
    """Assert that inferred types and shapes equal OpenVINO's, or are the ``expected`` ones, which refine OpenVINO's."""
    theirs, _ = in_openvino(name, opset, arguments, keywords)
    ours, _ = in_hetero(name, opset, arguments, keywords)
    same_attributes(ours, theirs)
    found = [openvino.PartialShape(str(output.partial_shape)) for output in ours.outputs()]
    wanted = [output.partial_shape for output in theirs.outputs()]
    if expected is None:
        assert found == wanted
    else:
        assert [str(output.partial_shape) for output in ours.outputs()] == expected
        assert all(a.refines(b) for a, b in zip(found, wanted, strict=True))
    types = [output.element_type.to_string() for output in ours.outputs()]
    assert types == [output.element_type.get_type_name() for output in theirs.outputs()]


def both_refuse(name: str, *arguments, opset: int = 13, **keywords) -> None:
    """Assert that both OpenVINO and hetero reject a node."""
    with pytest.raises(RuntimeError):
        in_openvino(name, opset, arguments, keywords)
    with pytest.raises(hetero.HeteroError):
        in_hetero(name, opset, arguments, keywords)


def _given(arguments: tuple, keywords: dict) -> list:
    given = []
    for value in (*arguments, *keywords.values()):
        given += value if isinstance(value, list) else [value]
    return given


def _build(factory, parameter, constant, arguments: tuple, keywords: dict):
    parameters = []

    def convert(value):
        if isinstance(value, Data):
            parameters.append(parameter(value.array.shape, value.array.dtype))
            return parameters[-1]
        if isinstance(value, Unknown):
            parameters.append(parameter(value.shape, value.dtype))
            return parameters[-1]
        if isinstance(value, np.ndarray):
            return constant(value)
        return [convert(item) for item in value] if isinstance(value, list) else value

    node = factory(*map(convert, arguments), **{key: convert(value) for key, value in keywords.items()})
    return node, parameters
