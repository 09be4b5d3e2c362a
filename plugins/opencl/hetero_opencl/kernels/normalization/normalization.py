"""MVN, NormalizeL2, GRN and GroupNormalization in one kernel; BatchNormInference; LRN; Softmax and LogSoftmax.

Batch normalization with constants is folded into Multiply and Add before.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.graph import Node, Output
from hetero_opencl.device.launch import Buffer
from hetero_opencl.kernels.common.copies import shape_input
from hetero_opencl.kernels.common.definition import (
    ELEMENTS,
    first_reason,
    lowers,
    source,
    template,
    unsupported_non_float,
    wide_type,
)
from hetero_opencl.kernels.common.sharing import Sharing, share
from hetero_opencl.kernels.reduction.reduction import kept_and_reduced, unsupported_rank
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
    """Normalize data of a shape along the axes: subtract the mean if ``subtract_mean`` is set, multiply by the scale.

    ``affine``: number of groups, channels per group, scales and shifts of all channels.
    """
    if not math.prod(shape):
        return
    data = node.input_value(0)
    groups, channels, gamma, beta = affine or (1, 1, data, data)
    kept, reduced = kept_and_reduced(shape, axes)
    rows, length = (math.prod(axis_length for axis_length, _ in kind) for kind in (kept, reduced))
    macros: dict[str, object] = {"SUBTRACT_MEAN": int(subtract_mean), "AFFINE": int(bool(affine))}
    if scale:
        macros["SCALE"] = f"({scale})"
    axis_numbers = [number for axis in (*kept, *reduced) for number in axis]
    channel_numbers = (groups, channels, _number(node, epsilon))
    if not lowering.profile.is_cpu_like:
        is_across = reduced[0][1] != 1
        sharing = share(lowering.profile, rows, length, is_across, channel_numbers[-1].nbytes, passes=3)
        if sharing.lanes > 1 and length >= _SHARED:
            macros |= {"ACROSS": int(is_across), "ONE_AXIS": int(reduced[0][0] == length)}
            buffers, numbers = (data, gamma, beta), [*axis_numbers, length]
            return _launch_shared(lowering, node, (rows, length), sharing, macros, buffers, (numbers, channel_numbers))
    in_vectors = reduced[0] == (length, 1)
    # On a CPU neighboring rows are computed in vectors too; on a GPU they are neighboring work-items.
    is_blocked = lowering.profile.is_cpu_like and kept[0][1] == 1 and kept[0][0] >= _WIDTH and affine is None
    width = _WIDTH if is_blocked and not in_vectors else 1
    types = {"DATA": node.get_element_type()}
    text = source("normalization", types, IN_VECTORS=int(in_vectors), WIDTH=width, **macros)
    arguments: list[Argument] = [data, node.output(0), gamma, beta, *axis_numbers, length, *channel_numbers]
    lowering.launch_rows(text, "normalize_rows", arguments, rows // kept[0][0] * -(-kept[0][0] // width))


def _launch_shared(
    lowering: Lowering,
    node: Node,
    size: tuple[int, int],
    sharing: Sharing,
    macros: dict[str, object],
    inputs: tuple[Output, Output, Output],
    numbers: tuple[Sequence[Argument], Sequence[Argument]],
) -> None:
    """Launch a normalization of ``size``, rows and their length, on a GPU.

    ``inputs``: data, scales and shifts. ``numbers``: those of the axes, and those of the channels.
    """
    (rows, length), (lanes, together, slices), (data, gamma, beta) = size, sharing, inputs
    output = node.output(0)
    slice_length = -(-length // slices)
    slices = -(-length // slice_length)
    macros = {**macros, "LANES": lanes, "ROWS": together, "SLICED": int(slices > 1)}
    text = source("shared_normalization", {"DATA": node.get_element_type()}, **macros)
    axes = [*numbers[0], slices, slice_length, rows]
    global_size, group = [-(-rows // together) * slices * sharing.group], [sharing.group]
    lowering.note_decision(f"{slices} parts of {lanes} work-items for each of {rows} rows")
    if slices == 1:
        arguments: list[Argument] = [data, output, gamma, beta, *axes, *numbers[1]]
        return lowering.launch(text, "normalize_shared", arguments, global_size, group)
    kind = wide_type(node.get_element_type())
    sums, squares = (lowering.scratch(rows * slices, kind.size) for _ in range(2))
    if macros["SUBTRACT_MEAN"]:
        lowering.launch(text, "sum_slices", [data, sums, *axes], global_size, group)
    if "SCALE" in macros:
        lowering.launch(text, "square_slices", [data, sums, squares, *axes], global_size, group)
    arguments = [data, sums, squares, output, gamma, beta, *axes, *numbers[1]]
    lowering.launch(text, "normalize_slices", arguments, global_size, group)


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
    # On a CPU neighbors are computed in vectors.
    width = 16 if lowering.profile.is_cpu_like and inner >= 16 else 1
    sums = {} if buffers[0] is buffers[1] else {"SUMS": 1}
    # Two square roots take a fifth of the time of pow. 0.75 is the exponent of all networks that we know.
    power = "(sqrt(x) * sqrt(sqrt(x)))" if node.beta == 0.75 else "pow(x, (VALUES)(beta))"
    text = source("local_response", {"DATA": node.get_element_type()}, WIDTH=width, **sums, **{"POWER(x)": power})
    items = math.prod(node.shape) // inner * -(-inner // width)
    lowering.launch_flat(text, kernel, [*buffers, *window, *numbers], items)


def _number(node: Node, value: float) -> np.floating:
    """Return a number of the type in which kernels compute."""
    return (np.float64 if node.get_element_type() is Type.f64 else np.float32)(value)


@lowers(ops.Softmax, ops.SoftmaxV1, ops.LogSoftmax, unsupported=unsupported_non_float)
def softmax(lowering: Lowering, node: ops.Softmax | ops.SoftmaxV1 | ops.LogSoftmax) -> None:
    shape, kind = node.shape, node.get_element_type()
    axis = node.axis % len(shape)
    length, inner = shape[axis], math.prod(shape[axis + 1 :])
    rows = math.prod(shape[:axis]) * inner
    if not length or not rows:
        return
    logarithm, narrow = isinstance(node, ops.LogSoftmax), ELEMENTS[kind].stored != ELEMENTS[kind].value
    arguments: list[Argument] = [node.input_value(0), node.output(0), length, inner]
    if not lowering.profile.is_cpu_like:
        sharing = share(lowering.profile, rows, length, inner != 1, wide_type(kind).size, passes=3)
        if sharing.lanes > 1:
            return _launch_shared_softmax(lowering, node, (rows, length, inner), sharing, logarithm)
    # The library's exp is fast on GPUs.
    is_short = lowering.profile.is_cpu_like and kind is not Type.f64
    macros = {"LOGARITHM": int(logarithm), "NARROW": int(narrow)}
    text = source("softmax", {"DATA": kind}, EXP16="exp_of_negative" if is_short else "exp", **macros)
    if is_short:
        text = template("exponential") + text
    # On a CPU columns are computed in vectors; on a GPU neighboring columns are neighboring work-items.
    in_vectors = lowering.profile.is_cpu_like and inner >= 16
    kernel, items = ("softmax_columns", rows // inner * -(-inner // 16)) if in_vectors else ("softmax", rows)
    lowering.launch_rows(text, kernel, arguments, items)


def _launch_shared_softmax(
    lowering: Lowering, node: Node, size: tuple[int, int, int], sharing: Sharing, logarithm: bool
) -> None:
    """Launch the softmax of ``size``, rows, length and the step between elements of a row, on a GPU."""
    (rows, length, inner), (lanes, together, slices) = size, sharing
    data, output = node.input_value(0), node.output(0)
    slice_length = -(-length // slices)
    slices = -(-length // slice_length)
    macros = {"LANES": lanes, "ROWS": together, "ACROSS": int(inner != 1), "LOGARITHM": int(logarithm)}
    text = source("shared_softmax", {"DATA": data.element_type}, **macros)
    sizes = [length, inner, slices, slice_length, rows]
    global_size, group = [-(-rows // together) * slices * sharing.group], [sharing.group]
    lowering.note_decision(f"{slices} parts of {lanes} work-items for each of {rows} rows")
    if slices == 1:
        return lowering.launch(text, "softmax_rows", [data, output, *sizes], global_size, group)
    found = lowering.scratch(2 * rows * slices, wide_type(data.element_type).size)
    lowering.launch(text, "softmax_parts", [data, found, *sizes], global_size, group)
    lowering.launch(text, "softmax_of_parts", [data, found, output, *sizes], global_size, group)
