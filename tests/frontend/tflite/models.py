"""Small TensorFlow Lite models for tests, of operators over tensors.

A model of one operator is one line::

    one("ADD", given((2, 3)), given((3,)), fused_activation_function="RELU")
    one("CONV_2D", given((1, 4, 4, 2), scale=0.1), constant(weights, scale=scales, axis=0), None,
        outputs=[made(np.int8, scale=0.2, zero_point=3)], padding="SAME", stride_w=1, stride_h=1)

Options have the names that schema.fbs gives them; what is an enumeration there may be given by name, and a subgraph's
index as the Graph itself. Larger models are Graphs of Ops that share tensors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.frontend.tflite.graphs import Graph, Op, Signature, Tensor, constant, given, made, variable
from tests.frontend.tflite.litert import FAST, Arrays, LiteRT
from tests.frontend.tflite.writer import write

__all__ = ["Graph", "LiteModel", "Op", "Signature", "build", "chain", "constant", "given", "made", "one", "variable"]


@dataclass
class LiteModel:
    """The bytes of a model, what its inputs are given by name, and the names of the outputs that are quantized."""

    content: bytes
    inputs: Arrays
    quantized: set[str]


def one(kind: str, *inputs: Tensor | None, outputs: Sequence[Tensor] | int = 1, **more: Any) -> LiteModel:
    """A model of one operator."""
    return build(Graph([Op(kind, inputs, outputs, **more)]))


def chain(first: Tensor, *steps: tuple[str, dict[str, Any]]) -> LiteModel:
    """A model of operators of one input each, by their names and options, one after the other."""
    ops, last = [], first
    for kind, options in steps:
        ops.append(Op(kind, [last], **options))
        last = ops[-1].outputs[0]
    return build(Graph(ops))


def build(graph: Graph, signatures: Sequence[Signature] = ()) -> LiteModel:
    """The model whose main graph is ``graph``; the bodies that its options name come with it."""
    generator = np.random.default_rng(0)
    for tensor in graph.inputs:
        if tensor.data is None:
            tensor.data = _random(generator, tensor)
    content = write(graph, signatures)
    inputs = {tensor.name: tensor.data for tensor in graph.inputs}
    if any(tensor.shape is None for tensor in graph.tensors):
        # Shapes as LiteRT finds them, so that the model is as complete as those of TensorFlow's converter.
        # The reference kernels lack some operators.
        draft = LiteRT(content, FAST, keep=True)
        draft(inputs)
        for i, tensor in enumerate(graph.tensors):
            tensor.shape = draft.shape(i) if tensor.shape is None else tensor.shape
        content = write(graph, signatures)
    return LiteModel(content, inputs, {tensor.name for tensor in graph.outputs if np.size(tensor.scale)})


def _random(generator: np.random.Generator, tensor: Tensor) -> np.ndarray:
    """Normally distributed numbers; of quantized tensors and bytes the whole range, of other integers -10 to 10."""
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
