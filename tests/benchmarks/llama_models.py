"""A decoder like Llama with random weights, of hetero's operations. Caches are variables, or inputs and outputs.

Its weights are real numbers, or integers with scales in the form in which OpenVINO's tools store them: int8 with a
scale and a zero point for each row; int4 with those of each 128 elements of a row, besides the table of words and the
last product, which are int8.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from hetero import Constant, Model, Parameter, PartialShape, Type, ops
from hetero.core.compressed import PackedArray
from hetero.graph import Node, Output, Variable, VariableInfo

# The elements of a row that have a scale in common in int4.
GROUP = 128


@dataclass
class Llama:
    """The sizes of a decoder: by default 28 million weights.

    ``weights``: "f32", "int8" or "int4". ``has_past``: its caches are inputs ``past.key.0`` … and outputs
    ``present.key.0`` …, else variables.
    """

    words: int = 16000
    width: int = 512
    layers: int = 4
    heads: int = 8
    hidden: int = 1408
    has_past: bool = False
    weights: str = "f32"
    _random: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))

    def _weight(self, rows: int, columns: int, least: str = "int4") -> Output:
        """Return a matrix in the form of the weights; with ``least`` "int8" not in fewer bits."""
        form = least if self.weights == "int4" else self.weights
        if form == "f32":
            numbers = self._random.standard_normal((rows, columns)) / math.sqrt(columns)
            return Constant(numbers.astype(np.float32)).output(0)
        kind, blocks = (Type.u4, columns // GROUP) if form == "int4" else (Type.u8, 1)
        shape = (rows, blocks, columns // blocks) if form == "int4" else (rows, columns)
        codes = ops.Convert(self._codes(kind, shape), Type.f16)
        points = ops.Convert(self._codes(kind, (*shape[:-1], 1)), Type.f16)
        # Differences of two codes have a deviation of 0.41 of their range.
        scale = self._random.uniform(0.5, 1.5, (*shape[:-1], 1)) / (0.41 * (1 << kind.bitwidth) * math.sqrt(columns))
        numbers = ops.Multiply(ops.Subtract(codes, points), scale.astype(np.float16))
        if form == "int4":
            numbers = ops.Reshape(numbers, np.array([rows, columns]), False)
        return ops.Convert(numbers, Type.f32).output(0)

    def _codes(self, kind: Type, shape: tuple[int, ...]) -> Constant:
        content = np.frombuffer(self._random.bytes(math.prod(shape) * kind.bitwidth // 8), np.uint8)
        return Constant(content.reshape(shape) if kind is Type.u8 else PackedArray(content, kind, shape))

    def _linear(self, x: Output, outputs: int, least: str = "int4") -> Output:
        inputs = x.partial_shape[-1].get_length()
        return ops.MatMul(x, self._weight(outputs, inputs, least), False, True).output(0)

    def model(self) -> Model:
        """Return the model. Inputs: numbers of words ``[batch, sequence]`` and their places, and those of the caches.

        These are ``[batch]`` the beams, or the caches ``[batch, heads, length, size]``. The first output is the logits
        ``[batch, 1, words]`` of the last word.
        """
        ids, places = (Parameter(Type.i64, [-1, -1], name=name) for name in ("input_ids", "position_ids"))
        beams = Parameter(Type.i32, [-1], name="beam_idx")
        for parameter in (ids, places, beams):
            parameter.output(0).names = {parameter.friendly_name}
        caches: list[tuple[Parameter | Variable, Output]] = []
        x = ops.Gather(self._weight(self.words, self.width, "int8"), ids, np.int64(0)).output(0)
        for layer in range(self.layers):
            x = ops.Add(x, self._attention(self._norm(x), places, beams, layer, caches)).output(0)
            y = self._norm(x)
            gated = ops.Multiply(ops.Swish(self._linear(y, self.hidden)), self._linear(y, self.hidden))
            x = ops.Add(x, self._linear(gated.output(0), self.width)).output(0)
        last = ops.Gather(x, np.array([-1]), np.int64(1)).output(0)
        logits = self._linear(self._norm(last), self.words, "int8")
        for cache, grown in caches:
            if isinstance(cache, Parameter):
                grown.names = {cache.friendly_name.replace("past", "present")}
        past = [cache for cache, _ in caches if isinstance(cache, Parameter)]
        if past:
            return Model([logits, *(grown for _, grown in caches)], [ids, places, *past], "llama")
        assigns = [ops.Assign(grown, cache) for cache, grown in caches]
        return Model([logits], assigns, [ids, places, beams], "llama")

    def _norm(self, x: Output) -> Output:
        square = ops.ReduceMean(ops.Multiply(x, x), np.array([-1]), True)
        scale = ops.Divide(np.float32(1), ops.Sqrt(ops.Add(square, np.float32(1e-5))))
        return ops.Multiply(ops.Multiply(x, scale), np.ones(self.width, np.float32)).output(0)

    def _attention(
        self, x: Output, places: Node, beams: Node, layer: int, caches: list[tuple[Parameter | Variable, Output]]
    ) -> Output:
        size = self.width // self.heads
        q, k, v = (self._in_heads(self._linear(x, self.width), size) for _ in range(3))
        turns = (10000.0 ** (-np.arange(0, size, 2) / size)).astype(np.float32)
        angles = ops.Multiply(ops.Unsqueeze(ops.Convert(places, "f32"), np.array([1, 3])), turns)
        angles = ops.Concat([angles, angles], 3)
        q, k = (ops.Add(ops.Multiply(y, ops.Cos(angles)), ops.Multiply(_turned(y), ops.Sin(angles))) for y in (q, k))
        keys, values = (
            self._grown(y, size, beams, f"{name}.{layer}", caches) for name, y in (("key", k), ("value", v))
        )
        attended = ops.ScaledDotProductAttention(q, keys, values, self._mask(q, keys), causal=False)
        joined = ops.Reshape(ops.Transpose(attended, np.array([0, 2, 1, 3])), np.array([0, 0, self.width]), True)
        return self._linear(joined.output(0), self.width)

    def _in_heads(self, x: Output, size: int) -> Output:
        split = ops.Reshape(x, np.array([0, 0, self.heads, size]), True)
        return ops.Transpose(split, np.array([0, 2, 1, 3])).output(0)

    def _grown(
        self, x: Node, size: int, beams: Node, name: str, caches: list[tuple[Parameter | Variable, Output]]
    ) -> Output:
        """Return a cache with these rows at its end, which it has in the next inference."""
        if self.has_past:
            past = Parameter(Type.f32, [-1, self.heads, -1, size], name=f"past.{name}")
            past.output(0).names = {past.friendly_name}
            grown = ops.Concat([past, x], 2).output(0)
            caches.append((past, grown))
            return grown
        variable = Variable(VariableInfo(name, Type.f32, PartialShape([-1, self.heads, -1, size])))
        batch = ops.Gather(ops.ShapeOf(x), np.array([0]), np.int64(0))
        shape = ops.Concat([batch, np.array([self.heads, 0, size])], 0)
        before = ops.ReadValue(ops.Broadcast(np.float32(0), shape), variable)
        grown = ops.Concat([ops.Gather(before, beams, np.int64(0)), x], 2).output(0)
        caches.append((variable, grown))
        return grown

    @staticmethod
    def _mask(q: Node, keys: Output) -> Output:
        """Return 0 for the keys that a query may see, those before it and its own, else a large negative number."""
        queries, total = (ops.Gather(ops.ShapeOf(y), np.int64(2), np.int64(0)) for y in (q, keys))
        columns = ops.Range(np.int64(0), total, np.int64(1), "i64")
        rows = ops.Range(ops.Subtract(total, queries), total, np.int64(1), "i64")
        is_seen = ops.LessEqual(ops.Unsqueeze(columns, np.array([0])), ops.Unsqueeze(rows, np.array([1])))
        return ops.Select(is_seen, np.float32(0), np.float32(-1e30)).output(0)


def _turned(x: Output) -> Node:
    """Return the second half of each row, negated, before the first one."""
    first, second = ops.Split(x, np.int64(3), 2).outputs()
    return ops.Concat([ops.Negative(second), first], 3)
