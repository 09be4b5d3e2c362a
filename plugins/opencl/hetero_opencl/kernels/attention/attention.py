"""Attention, LinearAttention and CacheUpdate.

Attention of several queries is one kernel on CPU-like devices, without the score matrix in memory. Otherwise it is two
matrix products with a softmax of each row of scores between them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from hetero import ops
from hetero.core.lengths.length import about
from hetero.core.types import Type
from hetero.graph import Output
from hetero_opencl.device.launch import Buffer
from hetero_opencl.kernels.common.copies import WORDS, unsupported_movement, widest_word
from hetero_opencl.kernels.common.definition import (
    ProductTypes,
    by_family,
    lowers,
    source,
    template,
    unsupported_non_float,
    wide_type,
)
from hetero_opencl.kernels.common.view import broadcast_shapes
from hetero_opencl.kernels.linear.gemm import RowRange, batched_gemm, gemm_transposed, strides_of
from hetero_opencl.kernels.linear.product import Factors
from hetero_opencl.lowering.lowering import Argument, Lowering

_NO_MASK, _NUMBERS, _BOOLEANS, _CAUSAL = range(4)
# Maximum number of scores computed at once, unless a single query has more.
_MOST_SCORES = 2**24
# flash_attention.cl: vectors of 16 queries and rows of keys in registers, by the number of f32 in a register; and the
# keys in a tile.
_FLASH_TILES, _FLASH_KEYS = {16: (8, 2), 8: (4, 1), 4: (2, 1)}, 64
# Longer rows of queries or values do not stay in the caches.
_FLASH_WIDTH = 256
# A single query leaves most lanes of its vectors empty. With more vector operations than this, that takes longer than
# the two launches that are saved.
_FLASH_OPERATIONS = 2**15


@lowers(ops.ScaledDotProductAttention, ops.SoftmaxAttention, unsupported=unsupported_non_float)
@by_family
def attention(lowering: Lowering, node: ops.ScaledDotProductAttention) -> None:
    (_flash_attention if _is_flash(node) else _attention_of_scores)(lowering, node)


@attention.on_gpus
def _attention_of_scores(lowering: Lowering, node: ops.ScaledDotProductAttention) -> None:
    """Launch products that compute the scores of queries, their softmax, and products with the values."""
    query, key, value = node.input_values()[:3]
    kind = query.element_type
    wide = wide_type(kind)
    (*batch_q, queries, _), (*batch_k, keys, _), (*batch_v, _, width) = query.shape, key.shape, value.shape
    scored = broadcast_shapes(tuple(batch_q), tuple(batch_k))
    result, contents = lowering.buffer(node.output(0)), lowering.buffer(value)
    of_query = math.prod(scored) * keys
    if queries * of_query <= _MOST_SCORES:
        parts = [(0, queries)] if queries else []
    else:
        step = max(1, _MOST_SCORES // max(1, int(of_query)))
        parts = [(first, min(step, queries - first)) for first in range(0, queries, step)]
    for first, rows in parts:
        scores, part = lowering.scratch(math.prod(scored) * rows * keys, wide.size), RowRange(first, queries)
        gemm_transposed(lowering, query, key, scores, wide, part, rows)
        batch, weights = _weights(lowering, node, scores, scored, first, rows)
        batched_gemm(
            lowering, Factors(weights, keys, 1), contents, result, (rows, width, keys), (batch, batch_v),
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


def _is_flash(node: ops.ScaledDotProductAttention) -> bool:
    query, (keys, width) = node.input_value(0), node.get_input_shape(2)[-2:]
    *batch, queries, depth = query.shape
    return (
        query.element_type is not Type.f64
        and queries > 0
        and (queries > 1 or about(math.prod(batch) * keys * (depth + width)) <= _FLASH_OPERATIONS)
        and 0 < depth <= _FLASH_WIDTH
        and 0 < width <= _FLASH_WIDTH
    )


def _flash_attention(lowering: Lowering, node: ops.ScaledDotProductAttention) -> None:
    """Launch attention as one kernel. Each work-item computes a block of queries of one head."""
    query, key, value = node.input_values()[:3]
    mask, sink, mask_kind = _terms(node)
    (queries, depth), (keys, width) = query.shape[-2:], value.shape[-2:]
    terms = [term for term in (mask, sink) if term is not None]
    scale, scale_type = _scale(lowering, node)
    types = {"DATA": query.element_type, "SCALE": scale_type}
    types |= {name: term.element_type for name, term in (("MASK", mask), ("SINK", sink)) if term is not None}
    batch = node.shape[:-2]
    of_mask, of_sink = (_strides(term, len(batch)) for term in (mask, sink))
    strides = [strides_of(term.shape[:-2], len(batch), math.prod(term.shape[-2:])) for term in (query, key, value)]
    axes = list(zip(batch, *strides, of_mask, of_sink))[::-1]
    numbers = [number for axis in axes for number in axis]
    numbers += [queries, keys, of_mask[-2], of_mask[-1], of_sink[-2]]
    rows, vectors = _FLASH_TILES[min(16, max(4, lowering.profile.vector_width))]
    vectors = min(vectors, -(-about(queries) // 16))
    text = f"#define SQUARE float16\n{template('transposition')}{template('exponential')}" + source(
        "flash_attention", types, ROWS=rows, VECTORS=vectors, TILE=_FLASH_KEYS, DEPTH=depth, WIDTH=width,
        MASK_KIND=mask_kind, SINK_KIND=int(sink is not None), EXCLUDED=_excluded(node),
        **_axis_macros(["query", "key", "value", "mask", "sink"], len(axes)),
    )  # fmt: skip
    arguments: list[Argument] = [query, key, value, node.output(0), scale, *terms, *numbers]
    items = [-(-queries // (16 * vectors)), math.prod(batch)]
    lowering.note_decision(f"scores of {_FLASH_KEYS} keys by {16 * vectors} queries at a time")
    lowering.launch(text, "flash_attention", arguments, items, [1, 1])


def _axis_macros(strides: Sequence[str], rank: int) -> dict[str, str]:
    """Return the parameters of ``rank`` batch axes, a length and named strides each, and the steps along them.

    The innermost axis is the first one. Steps divide ``rest``, the index of a batch, by each length, and add the
    offsets to the variables ``in_*``.
    """
    parameters = [f"const int {name}{axis}, " for axis in range(rank) for name in ("length", *strides)]
    steps = [
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
