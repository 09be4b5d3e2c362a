"""MVN, NormalizeL2, GRN and GroupNormalization in one kernel; BatchNormInference; LRN.

Batch normalization with constants is folded into Multiply and Add before.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hetero import ops
from hetero.core.lengths.length import hint_of
from hetero.core.types import Type
from hetero.graph import Node, Output
from hetero_opencl.device.launch import Buffer
from hetero_opencl.kernels.common.copies import shape_input
from hetero_opencl.kernels.common.definition import (
    by_family,
    first_reason,
    lowers,
    source,
    unsupported_non_float,
    wide_type,
)
from hetero_opencl.kernels.common.sharing import share
from hetero_opencl.kernels.reduction.reduction import Axes, kept_and_reduced, unsupported_rank
from hetero_opencl.lowering.lowering import Argument, Lowering

# Factor of the normalized elements.
_INVERSE_DEVIATIONS = {
    "inside_sqrt": "1 / sqrt(squares / length + epsilon)",
    "outside_sqrt": "1 / (sqrt(squares / length) + epsilon)",
}
# Least length of a row that work-items share; three sums of the parts of a shorter one take longer than the row.
_SHARED = 64
# Neighboring rows in a vector.
_WIDTH = 16
# "squares < epsilon" rather than fmax, so that NaN propagates.
_INVERSE_NORMS = {"add": "1 / sqrt(squares + epsilon)", "max": "1 / sqrt(squares < epsilon ? epsilon : squares)"}


_unsupported = first_reason(unsupported_rank, unsupported_non_float)


@lowers(ops.MVN, unsupported=_unsupported)
def mvn(lowering: Lowering, node: ops.MVN) -> None:
    scale = _INVERSE_DEVIATIONS[node.eps_mode] if node.normalize_variance else None
    _normalize(lowering, node, node.shape, _axes(node), scale, node.eps, subtract_mean=True)


@lowers(ops.MVNV2, unsupported=_unsupported)
def mvn_v2(lowering: Lowering, node: ops.MVNV2) -> None:
    rank = len(node.shape)
    axes = range(1 if node.across_channels else 2, rank) if node.reduction_axes is None else node.reduction_axes
    scale = _INVERSE_DEVIATIONS["inside_sqrt"] if node.normalize_variance else None
    _normalize(lowering, node, node.shape, {axis % rank for axis in axes}, scale, node.eps, subtract_mean=True)


@lowers(ops.NormalizeL2, unsupported=_unsupported)
def normalize_l2(lowering: Lowering, node: ops.NormalizeL2) -> None:
    _normalize(lowering, node, node.shape, _axes(node), _INVERSE_NORMS[node.eps_mode], node.eps)


@lowers(ops.GRN, unsupported=_unsupported)
def grn(lowering: Lowering, node: ops.GRN) -> None:
    _normalize(lowering, node, node.shape, {1}, _INVERSE_NORMS["add"], node.bias)


@lowers(ops.GroupNormalization, unsupported=unsupported_non_float)
def group_normalization(lowering: Lowering, node: ops.GroupNormalization) -> None:
    batch, channels, *spatial = node.shape
    groups, (_, gamma, beta) = node.num_groups, node.input_values()
    shape, affine = (batch, groups, channels // groups * math.prod(spatial)), (groups, channels // groups, gamma, beta)
    _normalize(lowering, node, shape, {2}, _INVERSE_DEVIATIONS["inside_sqrt"], node.epsilon, True, affine)


def _axes(node: Node) -> set[int]:
    rank = len(node.shape)
    return {axis % rank for axis in shape_input(node, 1).reshape(-1).tolist()} if rank else set()


@dataclass(frozen=True)
class _Rows:
    """Rows of data to normalize: the axes that number them, and those along which they are normalized.

    ``macros`` are those of the source. ``affine``: number of groups, channels per group, scales and shifts of channels.
    """

    node: Node
    kept: Axes
    reduced: Axes
    macros: dict[str, object]
    affine: tuple[int, int, Output, Output] | None
    epsilon: np.floating

    @property
    def count(self) -> int:
        return math.prod(length for length, _ in self.kept)

    @property
    def length(self) -> int:
        return math.prod(length for length, _ in self.reduced)

    @property
    def kind(self) -> Type:
        return self.node.get_element_type()

    def arguments(self, *sizes: int, sums: Sequence[Buffer] = ()) -> list[Argument]:
        """Return the arguments of kernels that write results; ``sizes`` follow those of the axes."""
        data = self.node.input_value(0)
        groups, channels, gamma, beta = self.affine or (1, 1, data, data)
        buffers: list[Argument] = [data, *sums, self.node.output(0), gamma, beta]
        return [*buffers, *self.axis_numbers(), *sizes, groups, channels, self.epsilon]

    def axis_numbers(self) -> list[int]:
        return [*(number for axis in (*self.kept, *self.reduced) for number in axis), self.length]


def _normalize(
    lowering: Lowering,
    node: Node,
    shape: tuple[int, ...],
    axes: set[int],
    scale: str | None,
    epsilon: float,
    subtract_mean: bool = False,
    affine: tuple[int, int, Output, Output] | None = None,
) -> None:
    """Normalize data of a shape along the axes: subtract the mean with ``subtract_mean``, multiply by the scale."""
    if not math.prod(shape):
        return
    macros: dict[str, object] = {"SUBTRACT_MEAN": int(subtract_mean), "AFFINE": int(bool(affine))}
    if scale:
        macros["SCALE"] = f"({scale})"
    _normalize_rows(lowering, _Rows(node, *kept_and_reduced(shape, axes), macros, affine, _number(node, epsilon)))


@by_family
def _normalize_rows(lowering: Lowering, rows: _Rows) -> None:
    _normalize_each(lowering, rows)


@_normalize_rows.on_gpus
def _normalize_together(lowering: Lowering, rows: _Rows) -> None:
    """Launch a normalization in which work-items share a row, and work-groups its parts if there are few rows."""
    count, length, is_across = rows.count, rows.length, rows.reduced[0][1] != 1
    sharing = share(lowering.profile, count, length, is_across, rows.epsilon.nbytes, passes=3)
    lanes, together, slices = sharing
    if lanes == 1 or length < _SHARED:
        return _normalize_each(lowering, rows)
    part = -(-length // slices)
    slices = -(-length // part)
    macros = {
        **rows.macros, "ACROSS": int(is_across), "ONE_AXIS": int(rows.reduced[0][0] == length),
        "LANES": lanes, "ROWS": together, "SLICED": int(slices > 1),
    }  # fmt: skip
    text = source("shared_normalization", {"DATA": rows.kind}, **macros)
    sizes = (slices, part, count)
    global_size, group = [-(-count // together) * slices * sharing.group], [sharing.group]
    lowering.note_decision(f"{slices} parts of {lanes} work-items for each of {hint_of(count)} rows")
    if slices == 1:
        return lowering.launch(text, "normalize_shared", rows.arguments(*sizes), global_size, group)
    sums, squares = (lowering.scratch(count * slices, wide_type(rows.kind).size) for _ in range(2))
    data, numbers = rows.node.input_value(0), [*rows.axis_numbers(), *sizes]
    if macros["SUBTRACT_MEAN"]:
        lowering.launch(text, "sum_slices", [data, sums, *numbers], global_size, group)
    if "SCALE" in macros:
        lowering.launch(text, "square_slices", [data, sums, squares, *numbers], global_size, group)
    arguments = rows.arguments(*sizes, sums=(sums, squares))
    lowering.launch(text, "normalize_slices", arguments, global_size, group)


def _normalize_each(lowering: Lowering, rows: _Rows) -> None:
    """Launch a normalization with a work-item for each row, or for neighboring ones in a vector."""
    (neighbors, step), in_vectors = rows.kept[0], rows.reduced[0] == (rows.length, 1)
    is_blocked = lowering.profile.vector_width > 1 and step == 1 and neighbors >= _WIDTH and rows.affine is None
    width = _WIDTH if is_blocked and not in_vectors else 1
    text = source("normalization", {"DATA": rows.kind}, IN_VECTORS=int(in_vectors), WIDTH=width, **rows.macros)
    lowering.launch_rows(text, "normalize_rows", rows.arguments(), rows.count // neighbors * -(-neighbors // width))


@lowers(ops.BatchNormInference, ops.BatchNormInferenceV1, unsupported=unsupported_non_float)
def batch_norm_inference(lowering: Lowering, node: ops.BatchNormInference | ops.BatchNormInferenceV1) -> None:
    names = "data", "gamma", "beta", "mean", "variance"  # in another order in version 1
    inputs, shape = [node.input_value(node.input_index(name)) for name in names], node.shape
    text = source("batch_norm", {"DATA": node.get_element_type()})
    sizes, epsilon = (shape[1], math.prod(shape[2:])), _number(node, node.epsilon)
    lowering.launch_flat(text, "batch_norm", [*inputs, node.output(0), *sizes, epsilon], math.prod(shape))


@lowers(ops.LRN, unsupported=unsupported_non_float)
def lrn(lowering: Lowering, node: ops.LRN) -> None:
    """One launch per axis sums over a window; the last one also normalizes."""
    shape, axes = node.shape, sorted(_axes(node))
    count = math.prod(shape)
    if not count:
        return
    # Without axes the window is one element.
    windows = [(node.size, shape[axis], math.prod(shape[axis + 1 :])) for axis in axes] or [(1, 1, 1)]
    data = sums = lowering.buffer(node.input_value(0))
    for window in windows[:-1]:
        target = lowering.scratch(count, _number(node, 0).nbytes)
        _launch_windows(lowering, node, "window_sums", [data, sums, target], window)
        sums = target
    numbers = [_number(node, x) for x in (node.alpha / node.size ** len(axes), node.beta, node.bias)]
    buffers = [data, sums, lowering.buffer(node.output(0))]
    _launch_windows(lowering, node, "normalize_responses", buffers, windows[-1], numbers)


def _launch_windows(
    lowering: Lowering,
    node: ops.LRN,
    kernel: str,
    buffers: Sequence[Buffer],
    window: tuple[int, int, int],
    numbers: Sequence[np.floating] = (),
) -> None:
    """``buffers``: data, sums over the previous axes (the data itself if there are none), and the result."""
    inner = window[-1]
    width = 16 if lowering.profile.vector_width > 1 and inner >= 16 else 1
    sums = {} if buffers[0] is buffers[1] else {"SUMS": 1}
    # Two square roots take a fifth of the time of pow. 0.75 is the exponent of all networks that we know.
    power = "(sqrt(x) * sqrt(sqrt(x)))" if node.beta == 0.75 else "pow(x, (VALUES)(beta))"
    text = source("local_response", {"DATA": node.get_element_type()}, WIDTH=width, **sums, **{"POWER(x)": power})
    items = math.prod(node.shape) // inner * -(-inner // width)
    lowering.launch_flat(text, kernel, [*buffers, *window, *numbers], items)


def _number(node: Node, value: float) -> np.floating:
    """Return a number of the type in which kernels compute."""
    return (np.float64 if node.get_element_type() is Type.f64 else np.float32)(value)
