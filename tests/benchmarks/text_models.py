"""Models of text with random weights, as ONNX files: what exporters of PyTorch write for BERT and its kind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 17


class Graph:
    """Nodes and weights of a model in the making."""

    def __init__(self, seed: int = 0) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []
        self._random = np.random.default_rng(seed)

    def add(self, kind: str, *inputs: str, **attributes: Any) -> str:
        """Append a node of one output, and return the name of that."""
        name = f"{kind}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], name=name, **attributes))
        return name

    def constant(self, array: Any, dtype: Any = np.int64) -> str:
        name = f"constant_{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.asarray(array, dtype), name))
        return name

    def weight(self, *shape: int, scale: float = 0.05, around: float = 0.0) -> str:
        return self.constant(self._random.standard_normal(shape) * scale + around, np.float32)

    def linear(self, x: str, inputs: int, outputs: int) -> str:
        return self.add("Add", self.weight(outputs), self.add("MatMul", x, self.weight(inputs, outputs)))

    def norm(self, x: str, width: int) -> str:
        scale, shift = self.weight(width, around=1.0), self.weight(width)
        return self.add("LayerNormalization", x, scale, shift, axis=-1, epsilon=1e-12)

    def length(self, x: str, axis: int) -> str:
        """Return one length of a value, as a tensor of one element."""
        return self.add("Unsqueeze", self.add("Gather", self.add("Shape", x), self.constant(axis)), self.constant([0]))


def sentence_embedder(path: Path, layers: int = 6, width: int = 384, heads: int = 12, words: int = 30522) -> None:
    """Write a model of MiniLM's form: word numbers and a mask ``[batch, sequence]`` to vectors ``[batch, width]``."""
    graph = Graph()
    add, constant = graph.add, graph.constant
    ids, mask = "input_ids", "attention_mask"
    length = graph.length(ids, 1)
    places = add("Slice", constant(np.arange(512)[None]), constant([0]), length, constant([1]))
    x = add("Gather", graph.weight(words, width), ids)
    x = add("Add", add("Add", x, graph.weight(1, 1, width)), add("Gather", graph.weight(512, width), places))
    x = graph.norm(x, width)
    shown = add("Cast", add("Unsqueeze", mask, constant([1, 2])), to=TensorProto.FLOAT)
    hidden = add("Mul", add("Sub", constant(1, np.float32), shown), constant(-3e38, np.float32))
    size = width // heads
    for _ in range(layers):
        parts = [graph.length(x, 0), graph.length(x, 1)]
        split = add("Concat", *parts, constant([heads]), constant([size]), axis=0)
        joined = add("Concat", *parts, constant([width]), axis=0)
        q, k, v = (add("Reshape", graph.linear(x, width, width), split) for _ in range(3))
        q, v = (add("Transpose", each, perm=[0, 2, 1, 3]) for each in (q, v))
        scores = add("MatMul", q, add("Transpose", k, perm=[0, 2, 3, 1]))
        scores = add("Add", add("Div", scores, constant(size**0.5, np.float32)), hidden)
        y = add("Transpose", add("MatMul", add("Softmax", scores, axis=-1), v), perm=[0, 2, 1, 3])
        x = graph.norm(add("Add", graph.linear(add("Reshape", y, joined), width, width), x), width)
        y = graph.linear(x, width, 4 * width)
        halved = add("Mul", y, add("Add", add("Erf", add("Div", y, constant(2**0.5, np.float32))), constant(1, "f4")))
        y = add("Mul", halved, constant(0.5, np.float32))
        x = graph.norm(add("Add", graph.linear(y, 4 * width, width), x), width)
    weights = add("Cast", add("Unsqueeze", mask, constant([2])), to=TensorProto.FLOAT)
    total = add("ReduceSum", add("Mul", x, weights), constant([1]), keepdims=0)
    count = add("Clip", add("ReduceSum", weights, constant([1]), keepdims=0), constant(1e-9, np.float32))
    mean = add("Div", total, count)
    graph.nodes.append(helper.make_node("Identity", [mean], ["embedding"]))
    _save(graph, path, [(name, TensorProto.INT64, ["batch", "sequence"]) for name in (ids, mask)],
          [("embedding", TensorProto.FLOAT, ["batch", width])])  # fmt: skip


def _save(graph: Graph, path: Path, inputs: list[tuple[Any, ...]], outputs: list[tuple[Any, ...]]) -> None:
    ports = [[helper.make_tensor_value_info(*port) for port in side] for side in (inputs, outputs)]
    model = helper.make_model(
        helper.make_graph(graph.nodes, path.stem, *ports, graph.weights),
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=10,
    )
    onnx.save(model, path)
