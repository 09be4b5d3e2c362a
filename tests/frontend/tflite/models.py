"""Small TensorFlow Lite models for tests, of operators over tensors.

A model of one operator is one line::

    model_of("ADD", feed((2, 3)), feed((3,)), fused_activation_function="RELU")
    model_of("CONV_2D", feed((1, 4, 4, 2), scale=0.1), constant(weights, scale=scales, axis=0), None,
        outputs=[out(np.int8, scale=0.2, zero_point=3)], padding="SAME", stride_w=1, stride_h=1)

Options have their names in schema.fbs. A value of an enumeration may be its name, and the index of a subgraph may be
the Graph itself. Larger models are Graphs of Ops that share tensors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.frontend.tflite.graphs import Graph, Op, Signature, Tensor, constant, feed, out, variable
from tests.frontend.tflite.litert import FAST, Arrays, LiteRT
from tests.frontend.tflite.writer import write

__all__ = [
    "Graph",
    "LiteModel",
    "Op",
    "Signature",
    "build",
    "chain",
    "constant",
    "feed",
    "further_inputs",
    "model_of",
    "out",
    "variable",
]


@dataclass
class LiteModel:
    """The bytes of a model, its inputs by name, and the names of its quantized outputs."""

    content: bytes
    inputs: Arrays
    quantized: set[str]


def model_of(kind: str, *inputs: Tensor | None, outputs: Sequence[Tensor] | int = 1, **more: Any) -> LiteModel:
    """Return a model of one operator."""
    return build(Graph([Op(kind, inputs, outputs, **more)]))


def chain(first: Tensor, *steps: tuple[str, dict[str, Any]]) -> LiteModel:
    """Return a model of a chain of operators of one input each; ``steps``: their names and options."""
    ops, last = [], first
    for kind, options in steps:
        ops.append(Op(kind, [last], **options))
        last = ops[-1].outputs[0]
    return build(Graph(ops))


def build(graph: Graph, signatures: Sequence[Signature] = ()) -> LiteModel:
    """Return the model whose main graph is ``graph``. Graphs in the options of its operators are included."""
    generator = np.random.default_rng(0)
    for tensor in graph.inputs:
        if tensor.data is None:
            tensor.data = _random(generator, tensor)
    content = write(graph, signatures)
    inputs = {tensor.name: tensor.data for tensor in graph.inputs}
    if any(tensor.shape is None for tensor in graph.tensors):
        # Fill in the shapes that LiteRT infers, as TensorFlow's converter does. REFERENCE lacks some operators.
        draft = LiteRT(content, FAST, keep=True)
        draft(inputs)
        for i, tensor in enumerate(graph.tensors):
            tensor.shape = draft.shape(i) if tensor.shape is None else tensor.shape
        content = write(graph, signatures)
    return LiteModel(content, inputs, {tensor.name for tensor in graph.outputs if np.size(tensor.scale)})


def further_inputs(model: LiteModel, count: int = 2) -> list[Arrays]:
    """Return random inputs for ``count`` further inferences, which start from the states of the ones before."""
    generator = np.random.default_rng(1)

    def random(array: np.ndarray) -> np.ndarray:
        if array.dtype == np.int8:
            return generator.integers(-128, 128, array.shape).astype(np.int8)
        return generator.standard_normal(array.shape).astype(np.float32)

    return [{name: random(array) for name, array in model.inputs.items()} for _ in range(count)]


def _random(generator: np.random.Generator, tensor: Tensor) -> np.ndarray:
    """Return normally distributed reals, the whole range of quantized tensors and bytes, other integers in -10 … 10."""
    dtype, shape = np.dtype(tensor.dtype), tensor.shape
    if dtype.kind == "b":
        return generator.integers(0, 2, shape).astype(bool)
    if dtype.kind == "c":
        return (generator.standard_normal(shape) + 1j * generator.standard_normal(shape)).astype(dtype)
    if dtype.kind not in "iu":
        return np.asarray(generator.standard_normal(shape)).astype(dtype)
    limits = np.iinfo(dtype)
    if np.size(tensor.scale) or dtype.itemsize == 1:
        return np.asarray(generator.integers(limits.min, limits.max, shape, endpoint=True)).astype(dtype)
    return np.asarray(generator.integers(max(limits.min, -10), 11, shape)).astype(dtype)
