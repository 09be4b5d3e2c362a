"""Attention: values weighted by how far queries and keys agree."""

from __future__ import annotations

from typing import Any

import numpy as np

from hetero.errors import GraphError
from hetero.graph import Attribute, Op
from hetero.ops.checks import check_type, common_type, merge_dimensions
from hetero.ops.conversion import ConvertLike
from hetero.shape import Dimension, PartialShape, concatenate
from hetero.types import Type


class ScaledDotProductAttention(Op, opset=13):
    """softmax(Q·Kᵀ·scale + mask)·V, of query ``[N…, L, E]``, key ``[N…, S, E]`` and value ``[N…, S, Ev]``.

    The mask ``[…, L, S]`` is added, or where it is boolean says what is looked at; with ``causal`` there is another
    one instead of it: query i looks at keys 0 to i. ``scale`` is 1/√E where it is left out. ``sink [N…, L or 1, 1]``
    takes part in the sum of the softmax, but has no value. All N… broadcast.
    """

    inputs = ("query", "key", "value", "attention_mask?", "scale?", "sink?")
    parameter_order = ("query", "key", "value", "attention_mask", "scale", "causal", "sink")
    causal = Attribute(bool, False)

    @classmethod
    def bind(cls, *arguments: Any, **keywords: Any) -> dict[str, Any]:
        bound = super().bind(*arguments, **keywords)
        if bound["scale"] is None and bound["sink"] is not None:
            raise GraphError("ScaledDotProductAttention: sink is given but scale, which is before it, is left out")
        if bound["attention_mask"] is None and bound["scale"] is not None:
            # Inputs have no names in a graph: a mask that changes nothing takes the place of one left out.
            bound["attention_mask"] = ConvertLike(np.int32(0), bound["query"])
        return bound

    def validate_and_infer_types(self) -> None:
        given = range(self.get_input_size())
        halves = [index for index in given if index != 3 or self.get_input_element_type(3) != Type.boolean]
        check_type(self, halves, Type.is_real, "a floating-point number")
        element_type = common_type(self, halves)
        query, key, value = self._shapes()
        merge_dimensions(self, (query[-1], key[-1]), "the last dimensions of query and key")
        length = merge_dimensions(self, (key[-2], value[-2]), "the numbers of keys and values")
        shape = PartialShape.dynamic()
        if self.get_input_partial_shape(0).has_rank:
            shape = concatenate(self._batch(query, key, value), [query[-2], value[-1]])
        for index, name in ((4, "scale"), (5, "sink")):
            if index in given:
                self._check_rest(index, name, shape)
        if 3 in given and not self.causal:
            shape = self._with_mask(shape, query[-2], length)
        self.set_output_type(0, element_type, shape)

    def _shapes(self) -> list[PartialShape]:
        """The shapes of query, key and value, all of one rank, 3 where none is known."""
        shapes = [self.get_input_partial_shape(index) for index in range(3)]
        ranks = {len(shape) for shape in shapes if shape.has_rank} or {3}
        if len(ranks) > 1 or min(ranks) < 3:
            self.fail(f"query {shapes[0]}, key {shapes[1]} and value {shapes[2]} must be of one rank, 3 or more")
        return [shape.merge(PartialShape.dynamic(min(ranks))) for shape in shapes]

    def _batch(self, *shapes: PartialShape) -> PartialShape:
        batch = PartialShape([])
        for shape in shapes:
            try:
                batch = batch.broadcast(shape[:-2])
            except GraphError:
                self.fail(f"the dimensions before the last two do not broadcast: {', '.join(map(str, shapes))}")
        return batch

    def _check_rest(self, index: int, name: str, shape: PartialShape) -> None:
        given = self.get_input_partial_shape(index)
        if name == "scale" and not given.compatible([]) and not given.compatible([1]):
            self.fail(f"scale must be one number, but has the shape {given}")
        if name == "sink" and given.has_rank and shape.has_rank and not _broadcasts(given, [*shape[:-1], Dimension(1)]):
            self.fail(f"sink must broadcast to {[*shape[:-1], 1]}, but has the shape {given}")

    def _with_mask(self, shape: PartialShape, queries: Dimension, keys: Dimension) -> PartialShape:
        """The shape of the output where a mask may have more batch dimensions. Raises GraphError if it does not fit."""
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


def _broadcasts(small: PartialShape, large: Any) -> bool:
    """Whether the one may be stretched to the other, which stays as it is."""
    pairs = zip(reversed(list(small)), reversed(list(large)))
    return len(small) <= len(list(large)) and all(a.compatible(1) or a.compatible(b) for a, b in pairs)
