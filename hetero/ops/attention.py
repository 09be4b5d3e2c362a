"""Attention: scaled dot-product attention, linear attention, and key-value cache updates."""

from __future__ import annotations

from typing import Any

import numpy as np

from hetero.core.shape import Dimension, PartialShape, concatenate
from hetero.core.types import Type
from hetero.graph import Attribute, Op, choice
from hetero.ops.checks import (
    check_scalar_or_one,
    check_type,
    common_type,
    exact_number,
    merge_dimensions,
    shape_of_rank,
)
from hetero.ops.elementwise.conversion import ConvertLike
from hetero.system.errors import GraphError


class ScaledDotProductAttention(Op, opset=13):
    """softmax(Q·Kᵀ·scale + mask)·V for query ``[N…, L, E]``, key ``[N…, S, E]`` and value ``[N…, S, Ev]``.

    The output is ``[N…, L, Ev]``. The mask ``[…, L, S]`` is added, or if it is boolean, False masks a key out. With
    ``causal`` the mask is ignored and query i attends to keys 0 … i. ``scale`` is 1/√E by default.
    ``sink [N…, L or 1, 1]`` is an additional score in the softmax without a value. All N… are broadcast.

    - ``attention_mask``: the mask.
    """

    input_names = ("query", "key", "value", "attention_mask?", "scale?", "sink?")
    parameter_order = ("query", "key", "value", "attention_mask", "scale", "causal", "sink")
    causal = Attribute(bool, False)

    @classmethod
    def bind(cls, *arguments: Any, **keywords: Any) -> dict[str, Any]:
        bound = super().bind(*arguments, **keywords)
        if bound["scale"] is None and bound["sink"] is not None:
            raise GraphError("ScaledDotProductAttention: the input sink needs the input scale")
        if bound["attention_mask"] is None and bound["scale"] is not None:
            # Inputs are positional, so a missing mask before a scale is replaced by a mask of 0.
            bound["attention_mask"] = ConvertLike(np.int32(0), bound["query"])
        return bound

    def validate_and_infer_types(self) -> None:
        indices = range(self.get_input_size())
        floats = [index for index in indices if index != 3 or self.get_input_element_type(3) != Type.boolean]
        check_type(self, floats, Type.is_real, "a floating-point number")
        element_type = common_type(self, floats)
        query, key, value = self._shapes()
        merge_dimensions(self, (query[-1], key[-1]), "the last dimensions of query and key")
        length = merge_dimensions(self, (key[-2], value[-2]), "the numbers of keys and values")
        shape = PartialShape.dynamic()
        if self.get_input_partial_shape(0).has_rank:
            shape = concatenate(self._batch(query, key, value), [query[-2], value[-1]])
        if 4 in indices:
            check_scalar_or_one(self, 4)
        if 5 in indices:
            self._check_sink(shape)
        if 3 in indices and not self.causal:
            shape = self._with_mask(shape, query[-2], length)
        self.set_output_type(0, element_type, shape)

    def _shapes(self) -> list[PartialShape]:
        """Return the shapes of query, key and value, which have the same rank; 3 if it is unknown."""
        shapes = [self.get_input_partial_shape(index) for index in range(3)]
        ranks = {len(shape) for shape in shapes if shape.has_rank} or {3}
        if len(ranks) > 1 or min(ranks) < 3:
            self.fail(f"query {shapes[0]}, key {shapes[1]} and value {shapes[2]} must have the same rank, 3 or more")
        return [shape.merge(PartialShape.dynamic(min(ranks))) for shape in shapes]

    def _batch(self, *shapes: PartialShape) -> PartialShape:
        batch = PartialShape([])
        for shape in shapes:
            try:
                batch = batch.broadcast(shape[:-2])
            except GraphError:
                self.fail(f"the dimensions before the last two do not broadcast: {', '.join(map(str, shapes))}")
        return batch

    def _check_sink(self, output: PartialShape) -> None:
        shape = self.get_input_partial_shape(5)
        if shape.has_rank and output.has_rank and not _broadcasts(shape, [*output[:-1], Dimension(1)]):
            self.fail(f"sink must broadcast to {[*output[:-1], 1]}, but has the shape {shape}")

    def _with_mask(self, shape: PartialShape, queries: Dimension, keys: Dimension) -> PartialShape:
        """Return the output shape with the batch dimensions of the mask. Raises GraphError if it does not broadcast."""
        mask = self.get_input_partial_shape(3)
        if not mask.has_rank or not shape.has_rank:
            return PartialShape.dynamic()
        scores = concatenate(shape[:-2], [queries, keys])
        if not _broadcasts(mask[-2:], scores[-2:]):
            self.fail(f"attention_mask must broadcast to {scores}, but has the shape {mask}")
        try:
            return concatenate(scores.broadcast(mask)[:-1], shape[-1:])
        except GraphError:
            self.fail(f"attention_mask must broadcast to {scores}, but has the shape {mask}")


class SoftmaxAttention(ScaledDotProductAttention):
    """ScaledDotProductAttention as MatMul, Softmax and MatMul compute it: NaN for a query whose keys are all masked.

    ScaledDotProductAttention returns 0 for it.
    """


def _broadcasts(small: PartialShape, large: Any) -> bool:
    """Return whether ``small`` may broadcast to ``large`` without changing it."""
    pairs = zip(reversed(list(small)), reversed(list(large)))
    return len(small) <= len(list(large)) and all(a.compatible(1) or a.compatible(b) for a, b in pairs)


class CacheUpdate(Op):
    """A cache ``[B, N, R, H]`` of keys or values with new tokens ``[B, N, S, H]`` appended to each sequence.

    ``lengths [B]`` has the number of cached tokens of each sequence. The output is ``[B, N, max(R, total), H]``;
    its contents after the new tokens are unspecified. Part of ONNX Runtime's attention operators.
    """

    input_names = ("cache", "tokens", "lengths", "total")
    shape_inputs = (3,)

    def validate_and_infer_types(self) -> None:
        check_type(self, (2, 3), Type.is_integer, "an integer")
        check_scalar_or_one(self, 3)
        cache, tokens, lengths = shape_of_rank(self, 0, 4), shape_of_rank(self, 1, 4), shape_of_rank(self, 2, 1)
        batch = merge_dimensions(self, (cache[0], tokens[0], lengths[0]), "the batches of its inputs")
        heads = merge_dimensions(self, (cache[1], tokens[1]), "the heads of cache and tokens")
        width = merge_dimensions(self, (cache[3], tokens[3]), "the widths of cache and tokens")
        total, capacity = exact_number(self.input_value(3)), cache[2]
        length = Dimension.interval(capacity.min_length, None)
        if total is not None and capacity.is_static:
            length = Dimension(max(capacity.get_length(), total))
        self.set_output_type(0, common_type(self, (0, 1)), [batch, heads, length, width])


class LinearAttention(Op):
    """ONNX's linear attention: attention without a softmax, as a recurrence over a state matrix.

    Inputs: query ``[B, T, Nq·H]``, key ``[B, T, N·H]``, value ``[B, T, N·Hv]``, state ``[B, N, H, Hv]``, and the
    gates that the rule needs: decay ``[B, T, N or N·H]``, beta ``[B, T, N or 1]``. Outputs: ``[B, T, Nq·Hv]``, and the
    last state. Each step:

    - A gated rule multiplies the state by exp(decay).
    - k⊗v is added to the state; a delta rule replaces v by beta·(v - kᵀ·state).
    - The output is scale·qᵀ·state.
    - ``query_heads``, ``heads``: the numbers of heads Nq of the queries and N of keys and values.
    - ``update_rule``: which gates the rule has: none, decay, beta, or both.
    - ``scale``: the factor of the output; 0 for 1/√H.
    """

    input_names = ("query", "key", "value", "state", "*gates")
    output_size = 2
    query_heads = Attribute(int)
    heads = Attribute(int)
    update_rule = Attribute(choice("linear", "gated", "delta", "gated_delta"), "gated_delta")
    # 0 means 1/√H.
    scale = Attribute(float, 0.0)

    def validate_and_infer_types(self) -> None:
        check_type(self, range(self.get_input_size()), Type.is_real, "a floating-point number")
        gates = self.is_gated + self.has_delta
        if self.get_input_size() != 4 + gates:
            self.fail(f"the rule {self.update_rule} needs {gates} gates, but there are {self.get_input_size() - 4}")
        if self.heads < 1 or self.query_heads < 1 or self.query_heads % self.heads:
            self.fail(
                f"the number of query heads, {self.query_heads}, must be a multiple of that of keys, {self.heads}"
            )
        query, key, value = (shape_of_rank(self, index, 3) for index in range(3))
        state = shape_of_rank(self, 3, 4)
        batch = merge_dimensions(self, (query[0], key[0], value[0], state[0]), "the batches of its inputs")
        time = merge_dimensions(self, (query[1], key[1], value[1]), "the steps of its inputs")
        width = self._width(key[2], state[2], "keys and of the state")
        if not query[2].compatible(width * self.query_heads):
            self.fail(f"queries of {query[2]} numbers do not fit {self.query_heads} heads of {width}")
        width = self._width(value[2], state[3], "values and of the state")
        heads = merge_dimensions(self, (Dimension(self.heads), state[1]), "the heads of keys and of the state")
        if self.is_gated:
            self._check_gate(4, "decay", [batch, time], (Dimension(self.heads), state[2] * self.heads))
        if self.has_delta:
            self._check_gate(3 + gates, "beta", [batch, time], (Dimension(self.heads), Dimension(1)))
        self.set_output_type(0, common_type(self, range(3)), [batch, time, width * self.query_heads])
        self.set_output_type(1, self.get_input_element_type(3), [batch, heads, state[2], width])

    def _width(self, packed: Dimension, width: Dimension, what: str) -> Dimension:
        """Return the width of one of the heads that are packed in one axis."""
        one = packed // self.heads if packed.is_static else Dimension()
        return merge_dimensions(self, (one, width), f"the widths of {what}")

    def _check_gate(self, index: int, name: str, steps: list[Dimension], lengths: tuple[Dimension, ...]) -> None:
        shape, accepted = self.get_input_partial_shape(index), [PartialShape([*steps, length]) for length in lengths]
        if not any(shape.compatible(one) for one in accepted):
            self.fail(f"{name} must have the shape {accepted[0]} or {accepted[1]}, but has {shape}")

    @property
    def is_gated(self) -> bool:
        return self.update_rule.startswith("gated")

    @property
    def has_delta(self) -> bool:
        return self.update_rule.endswith("delta")
