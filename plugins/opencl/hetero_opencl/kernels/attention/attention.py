"""Attention, LinearAttention and CacheUpdate.

Attention is one kernel on processors, without the score matrix in memory. Otherwise it is two matrix products with a
softmax of each row of scores between them. Transposes of queries, keys and values may be its prologue: kernels then read
these where they are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from hetero import ops
from hetero.core.lengths.length import about
from hetero.core.types import Type
from hetero.graph import Node, Output
from hetero_opencl.device.launch import Buffer
from hetero_opencl.kernels.common.copies import WORDS, shape_input, strided_copy, unsupported_movement, widest_word
from hetero_opencl.kernels.common.definition import (
    ProductTypes,
    by_family,
    lowers,
    source,
    template,
    unsupported_non_float,
    wide_type,
)
from hetero_opencl.kernels.common.view import View, broadcast_shapes
from hetero_opencl.kernels.linear.gemm import RowRange, batched_gemm, right_matrices, strides_of
from hetero_opencl.kernels.linear.product import Factors
from hetero_opencl.kernels.movement.items import ChooseItems, copy_items
from hetero_opencl.lowering.lowering import Argument, Lowering

_NO_MASK, _NUMBERS, _BOOLEANS, _CAUSAL = range(4)
# Maximum number of scores computed at once, unless a single query has more.
_MOST_SCORES = 2**24
# flash_attention.cl: vectors of 16 queries and rows of keys in registers, by the number of f32 in a register.
_FLASH_TILES = {16: (8, 2), 8: (4, 1), 4: (2, 1)}
# Keys that are computed at a time.
_TILE = 64
# Longer rows of queries or values do not stay in the caches.
_MOST_WIDTH = 256
# So many queries leave most lanes of vectors along queries empty: query_attention.cl has vectors along their elements.
_FEW_QUERIES = 3


class _Operand(NamedTuple):
    """Queries, keys or values: a value outside of the prologue, and the places of its elements after the prologue.

    Strides of the view are in elements. ``choice`` is the ChooseItems in the prologue, if there is one, whose items are
    along ``item_axis`` of the view.
    """

    value: Output
    view: View
    choice: ChooseItems | None = None
    item_axis: int = 0

    @property
    def batch(self) -> tuple[int, ...]:
        return self.view.shape[:-2]

    def batch_strides(self, rank: int) -> list[int]:
        """Return the strides along ``rank`` batch axes; 0 if broadcast, or if the kernel looks up the items."""
        strides = [0 if length == 1 else stride for length, stride in zip(self.batch, self.view.strides)]
        if self.choice:
            strides[self.item_axis] = 0
        return [0] * (rank - len(strides)) + strides

    def dense(self, lowering: Lowering, transposed: bool = False) -> Buffer:
        """Return a buffer of the matrices in row-major order, or of the transposed ones."""
        if self.view.is_dense and not self.choice:
            return right_matrices(lowering, self.value, True) if transposed else lowering.buffer(self.value)
        size = self.value.element_type.size
        if self.choice:
            copy_items(lowering, self.choice, buffer := lowering.scratch(self.view.size, size))
        else:
            buffer = lowering.buffer(self.value)
        view = self.view.swapaxes(-1, -2) if transposed else self.view
        in_bytes = View(view.shape, tuple(size * stride for stride in view.strides), 0, size)
        copy = lowering.scratch(view.size, size)
        strided_copy(lowering, buffer, in_bytes, copy, View.dense(view.shape, size))
        return copy


def _operand(lowering: Lowering, node: ops.ScaledDotProductAttention, index: int) -> _Operand:
    moves: list[Node] = []
    value = node.input_value(index)
    while value.node in lowering.operation.prologue:
        moves.insert(0, value.node)
        value = value.node.input_value(0)
    view = View.dense(value.shape, 1)
    choice, axes = None, [*range(len(value.shape))]  # those of the value; -1 for those that are added
    for move in moves:
        if isinstance(move, ChooseItems):
            choice = move
        elif isinstance(move, ops.Transpose):
            order = shape_input(move, 1).tolist()
            view, axes = view.transpose(*order), [axes[axis] for axis in order]
        else:
            added = {axis % len(move.shape) for axis in shape_input(move, 1).reshape(-1).tolist()}
            kept, places = iter(axes), range(len(move.shape))
            view = view[tuple(None if axis in added else slice(None) for axis in places)]
            axes = [-1 if axis in added else next(kept) for axis in places]
    return _Operand(value, view, choice, axes.index(1))


@lowers(ops.ScaledDotProductAttention, ops.SoftmaxAttention, unsupported=unsupported_non_float)
@by_family
def attention(lowering: Lowering, node: ops.ScaledDotProductAttention) -> None:
    (_attention_of_tiles if _is_one_kernel(node) else _attention_of_scores)(lowering, node)


@attention.on_gpus
def _attention_of_scores(lowering: Lowering, node: ops.ScaledDotProductAttention) -> None:
    """Launch products that compute the scores of queries, their softmax, and products with the values."""
    query, key, value = (_operand(lowering, node, index) for index in range(3))
    kind = query.value.element_type
    wide = wide_type(kind)
    (queries, depth), (keys, width) = query.view.shape[-2:], value.view.shape[-2:]
    scored = broadcast_shapes(query.batch, key.batch)
    result, asking, contents = lowering.buffer(node.output(0)), query.dense(lowering), value.dense(lowering)
    # A product with vectors needs no transposed copy of the right matrices.
    is_vector = bool(queries == 1)
    looked_at = key.dense(lowering, transposed=not is_vector)
    of_query = math.prod(scored) * keys
    if queries * of_query <= _MOST_SCORES:
        parts = [(0, queries)] if queries else []
    else:
        step = max(1, _MOST_SCORES // max(1, int(of_query)))
        parts = [(first, min(step, queries - first)) for first in range(0, queries, step)]
    for first, rows in parts:
        scores, part = lowering.scratch(math.prod(scored) * rows * keys, wide.size), RowRange(first, queries)
        if is_vector:
            batched_gemm(
                lowering, Factors(looked_at, depth, 1), asking, scores, (keys, 1, depth), (key.batch, query.batch),
                types=ProductTypes(kind, kind, wide),
            )
        else:
            batched_gemm(
                lowering, Factors(asking, depth, 1), looked_at, scores, (rows, keys, depth), (query.batch, key.batch),
                types=ProductTypes(kind, kind, wide), left_part=part,
            )
        batch, weights = _weights(lowering, node, scores, scored, first, rows)
        batched_gemm(
            lowering, Factors(weights, keys, 1), contents, result, (rows, width, keys), (batch, value.batch),
            types=ProductTypes(wide, kind, kind), result_part=part,
        )  # fmt: skip


def _weights(
    lowering: Lowering,
    node: ops.ScaledDotProductAttention,
    scores: Buffer,
    scored: Sequence[int],
    first: int,
    rows: int,
) -> tuple[tuple[int, ...], Buffer]:
    """Launch the softmax of the scores ``[*scored, rows, keys]`` of the queries from ``first`` on.

    Returns the batch shape of the weights, to which a mask may broadcast the scores, and their buffer.
    """
    query, keys = node.input_value(0), node.get_input_shape(1)[-2]
    mask, sink, mask_kind = _terms(node)
    terms = [value for value in (mask, sink) if value is not None]
    batch = broadcast_shapes(tuple(scored), *(tuple(value.shape[:-2]) for value in terms))
    wide = wide_type(query.element_type)
    weights = scores
    if batch != tuple(scored):
        weights = lowering.scratch(math.prod(batch) * rows * keys, wide.size)
    scale, scale_type = _scale(lowering, node)
    types = {"SCORES": wide, "SCALE": scale_type}
    types |= {name: value.element_type for name, value in (("MASK", mask), ("SINK", sink)) if value is not None}
    of_mask, of_sink = (_strides(value, len(batch)) for value in (mask, sink))
    axes = list(zip(batch, strides_of(scored, len(batch), rows), of_mask, of_sink))[::-1]
    numbers = [number for axis in axes for number in axis]
    numbers += [rows, keys, of_mask[-2], of_mask[-1], of_sink[-2], first]
    group = lowering.profile.team_size
    macros: dict[str, int | str] = {
        "MASK_KIND": mask_kind,
        "SINK_KIND": int(sink is not None),
        "GROUP": group,
        "EXCLUDED": _excluded(node),
    }
    text = _text(types, len(axes), macros)
    arguments: list[Argument] = [scores, weights, scale, *terms, *numbers]
    lowering.launch(text, "attention_weights", arguments, [math.prod(batch) * rows * group], [group])
    return batch, weights


def _terms(node: ops.ScaledDotProductAttention) -> tuple[Output | None, Output | None, int]:
    """Return the mask and the sink, or None, and the kind of the mask."""
    mask = node.input_value(3) if node.has_input("attention_mask") and not node.causal else None
    if mask is not None and not mask.shape:  # a scalar stands for no mask
        mask = None
    sink = node.input_value(5) if node.has_input("sink") else None
    kind = _CAUSAL if node.causal else _NO_MASK if mask is None else _NUMBERS
    return mask, sink, _BOOLEANS if mask is not None and mask.element_type is Type.boolean else kind


def _excluded(node: ops.ScaledDotProductAttention) -> str:
    """Return the factor of the weights of a query whose keys are all masked, which are 0."""
    return "NAN" if isinstance(node, ops.SoftmaxAttention) else "1"


def _scale(lowering: Lowering, node: ops.ScaledDotProductAttention) -> tuple[Argument, Type]:
    """Return the buffer of the factor of the scores, and its element type."""
    query = node.input_value(0)
    if node.has_input("scale"):
        return lowering.buffer(node.input_value(4)), query.element_type
    wide = wide_type(query.element_type)
    return lowering.constant(np.array([max(query.shape[-1], 1) ** -0.5], wide.to_dtype())), wide


def _is_one_kernel(node: ops.ScaledDotProductAttention) -> bool:
    """Return whether the kernels of processors compute it: they have rows of queries and values in registers."""
    query, width = node.input_value(0), node.get_input_shape(2)[-1]
    queries, depth = query.shape[-2:]
    return (
        query.element_type is not Type.f64 and queries > 0 and 0 < depth <= _MOST_WIDTH and 0 < width <= _MOST_WIDTH
    )


def _attention_of_tiles(lowering: Lowering, node: ops.ScaledDotProductAttention) -> None:
    """Launch attention as one kernel. Each work-item computes a query or a block of queries of one head."""
    operands = [_operand(lowering, node, index) for index in range(3)]
    query, _, value = operands
    mask, sink, mask_kind = _terms(node)
    (queries, depth), (keys, width) = query.view.shape[-2:], value.view.shape[-2:]
    terms = [term for term in (mask, sink) if term is not None]
    scale, scale_type = _scale(lowering, node)
    types = {"DATA": query.value.element_type, "SCALE": scale_type}
    types |= {name: term.element_type for name, term in (("MASK", mask), ("SINK", sink)) if term is not None}
    batch = node.shape[:-2]
    of_mask, of_sink = (_strides(term, len(batch)) for term in (mask, sink))
    axes = list(zip(batch, *(each.batch_strides(len(batch)) for each in operands), of_mask, of_sink))[::-1]
    numbers = [number for axis in axes for number in axis]
    numbers += [queries, keys, *(each.view.strides[-2] for each in operands), of_mask[-2], of_mask[-1], of_sink[-2]]
    choice, item_axis = _items(lowering, operands[1:], len(batch))
    macros = dict(
        TILE=_TILE, DEPTH=depth, WIDTH=width, MASK_KIND=mask_kind, SINK_KIND=int(sink is not None),
        ITEM_KIND=int(bool(choice)), EXCLUDED=_excluded(node),
        **_axis_macros(["query", "key", "value", "mask", "sink"], len(axes), item_axis),
    )  # fmt: skip
    if about(queries) <= _FEW_QUERIES:
        kernel, items = "query_attention", queries
    else:
        rows, vectors = _FLASH_TILES[min(16, max(4, lowering.profile.vector_width))]
        macros |= dict(ROWS=rows, VECTORS=(vectors := min(vectors, -(-about(queries) // 16))))
        kernel, items = "flash_attention", -(-queries // (16 * vectors))
        lowering.note_decision(f"scores of {_TILE} keys by {16 * vectors} queries at a time")
    text = f"#define SQUARE float16\n{template('transposition')}{template('exponential')}"
    arguments: list[Argument] = [*(each.value for each in operands), node.output(0), scale, *terms, *choice, *numbers]
    lowering.launch(text + source(kernel, types, **macros), kernel, arguments, [items, math.prod(batch)], [1, 1])


def _items(lowering: Lowering, operands: Sequence[_Operand], rank: int) -> tuple[list[Argument], int | None]:
    """Return the arguments for the items of keys and values, and their axis, counted from the innermost batch axis."""
    key, value = operands
    if key.choice is None or value.choice is None:
        return [], None
    table, axis = lowering.operation.outer(key.choice.input_value(1)), key.item_axis
    strides = [each.view.strides[axis] for each in operands]
    return [table, *table.shape, *strides], len(key.batch) - 1 - axis


def _axis_macros(strides: Sequence[str], rank: int, item_axis: int | None = None) -> dict[str, str]:
    """Return the parameters of ``rank`` batch axes, a length and named strides each, and the steps along them.

    The innermost axis is the first one. Steps divide ``rest``, the index of a batch, by each length, and add the
    offsets to the variables ``in_*``; ``item`` is the index along ``item_axis``.
    """
    parameters = [f"const int {name}{axis}, " for axis in range(rank) for name in ("length", *strides)]
    steps = [
        f"{f'item = rest % length{axis}; ' if axis == item_axis else ''}"
        f"{' '.join(f'in_{name} += rest % length{axis} * {name}{axis};' for name in strides)} rest /= length{axis};"
        for axis in range(rank)
    ]
    return {"PARAMETERS": "".join(parameters), "STEPS": " ".join(steps)}


def _strides(value: Output | None, rank: int) -> list[int]:
    """Return the strides of a mask or a sink along ``rank`` batch axes and two more."""
    return [0] * (rank + 2) if value is None else strides_of(value.shape, rank + 2, 1)


def _text(types: dict[str, Type], rank: int, macros: dict[str, int | str]) -> str:
    value, truth = ("double", "long") if types["SCORES"] is Type.f64 else ("float", "int")
    return source(
        "attention", types, **macros, **{"VALUE(width)": f"{value}##width", "CONVERT(x)": f"convert_{truth}16(x)"},
        TRUTH16=f"{truth}16", **_axis_macros(["scores", "mask", "sink"], rank),
    )  # fmt: skip


@lowers(ops.LinearAttention, unsupported=unsupported_non_float)
def linear_attention(lowering: Lowering, node: ops.LinearAttention) -> None:
    query, _, _, state, *gates = node.input_values()
    batch, time, _ = query.shape
    heads, members, (width, value_width) = node.heads, node.query_heads // node.heads, state.shape[2:]
    types = {"DATA": query.element_type, "STATE": state.element_type}
    decays = betas = 0
    if node.is_gated:
        types["GATE"], decays = gates[0].element_type, gates[0].shape[2] // heads
    if node.has_delta:
        types["BETA"], betas = gates[-1].element_type, gates[-1].shape[2]
    wide = wide_type(query.element_type)
    count = batch * heads * value_width
    running = lowering.scratch(count * width, wide.size)
    buffers = [*map(lowering.buffer, (*node.input_values(), *node.outputs())), running]
    numbers = map(np.int32, (time, heads, members, width, value_width, decays, betas))
    scale = wide.to_dtype().type(node.scale or max(width, 1) ** -0.5)
    macros = {"GATED": int(node.is_gated), "DELTA": int(node.has_delta), "SCALE": "DATA_VALUE"}
    text = source("linear_attention", types, **macros)
    lowering.launch_flat(text, "linear_attention", [*buffers, *numbers, scale], count)


@lowers(ops.CacheUpdate, unsupported=unsupported_movement)
def cache_update(lowering: Lowering, node: ops.CacheUpdate) -> None:
    cache, tokens, lengths = node.input_values()[:3]
    heads, room, width = cache.shape[1:]
    size = width * cache.element_type.size
    word = widest_word(size) if width else 1
    output = node.output(0)
    numbers = heads, room, tokens.shape[2], output.shape[2], size // word
    text = source("cache_update", {"INDEX": lengths.element_type}, WORD=WORDS[word])
    buffers = [lowering.buffer(value) for value in (cache, tokens, lengths, output)]
    count = math.prod(output.shape[:3]) * size // word
    lowering.launch_flat(text, "cache_update", [*buffers, *map(np.int32, numbers)], count)
