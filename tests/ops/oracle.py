"""OpenVINO as the oracle of operations: the same factory with the same arguments, there and here.

In the arguments a numpy array is a Constant, ``Data(array)`` a Parameter that is fed the array, and ``Unknown(shape)``
a Parameter of which only the shape is known. A list of these is a list of inputs; everything else is an attribute.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
import openvino
import pytest

import hetero
from hetero.graph import Constant, Node, Parameter
from hetero.ops.opsets import make_modules
from hetero.reference import evaluate

core = openvino.Core()


@dataclass
class Data:
    array: np.ndarray


@dataclass
class Unknown:
    shape: Any
    dtype: Any = np.float32


def in_openvino(name: str, opset: int, arguments: tuple, keywords: dict):
    """OpenVINO's node and its Parameters."""
    factories = import_module(f"openvino.opset{opset}")

    def parameter(shape, dtype):
        return factories.parameter(openvino.PartialShape(shape), openvino.Type(dtype))

    return _build(getattr(factories, name), parameter, factories.constant, arguments, keywords)


def in_hetero(name: str, opset: int, arguments: tuple, keywords: dict, dynamic: bool = False):
    """Our node and its Parameters, all of unknown rank where ``dynamic`` is true."""
    factory = getattr(make_modules()[f"opset{opset}"], name)

    def parameter(shape, dtype):
        shape = hetero.PartialShape(None if dynamic else shape)
        return Parameter(hetero.Type(dtype), shape)

    return _build(factory, parameter, Constant, arguments, keywords)


def same_results(name: str, *arguments, opset: int = 13, tolerance: float = 1e-5, **keywords) -> None:
    """Types, shapes and results are OpenVINO's CPU device's; the results also where no shape was known before."""
    node, parameters = in_openvino(name, opset, arguments, keywords)
    arrays = [value.array for value in _given(arguments, keywords) if isinstance(value, Data)]
    model = openvino.Model(list(node.outputs()), parameters)
    compiled = core.compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    results = compiled(arrays)
    expected = [np.array(results[output]) for output in compiled.outputs]
    same_shapes(name, *arguments, opset=opset, **keywords)
    for dynamic in (False, True):
        ours, parameters = in_hetero(name, opset, arguments, keywords, dynamic)
        for found, wanted in zip(run(ours, parameters, arrays), expected, strict=True):
            assert found.dtype == wanted.dtype
            assert found.shape == wanted.shape
            np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance)


def run(node: Node, parameters: list[Parameter], arrays: list[np.ndarray]) -> list[np.ndarray]:
    """The results of one node that reads Parameters and Constants."""
    fed = dict(zip(parameters, arrays, strict=True))
    sources = [output.node for output in node.input_values()]
    return evaluate(node, [source.data if isinstance(source, Constant) else fed[source] for source in sources])


def same_shapes(name: str, *arguments, opset: int = 13, expected: list[str] | None = None, **keywords) -> None:
    """Inferred types and shapes are OpenVINO's; where ours say more, they are the ``expected`` and lie within its."""
    theirs, _ = in_openvino(name, opset, arguments, keywords)
    ours, _ = in_hetero(name, opset, arguments, keywords)
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
    """Neither OpenVINO nor hetero builds such a node."""
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
