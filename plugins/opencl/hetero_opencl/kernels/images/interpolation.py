"""Interpolate and Resize: one axis at a time, or the last two, with the taps that the reference computes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, cast

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.graph import Node, Output
from hetero.reference.images.interpolation import (
    ResampledAxis,
    Taps,
    linear_filter,
    resampled_axes,
    rounded,
    rounds_each_axis,
    taps_along,
)
from hetero.reference.images.resize import ResizedAxis, coordinates, resized_axes, window
from hetero.reference.images.resize import taps_along as taps_of_resize
from hetero.system.errors import UnsupportedOperationError
from hetero_opencl.device.launch import Buffer
from hetero_opencl.kernels.common.blocked_windows import OnBlockedImages, blocked_source, row_parts
from hetero_opencl.kernels.common.copies import WORD_TYPES, fill, pad_by_number, shape_input
from hetero_opencl.kernels.common.definition import ELEMENTS, implements, lowers, source, unsupported_unless
from hetero_opencl.kernels.common.view import View, view_of
from hetero_opencl.lowering.implementation import Blocks, Configuration, KernelOperation, Signature
from hetero_opencl.lowering.lowering import Argument, Lowering
from hetero_opencl.profiles.profile import DeviceProfile

_unsupported = unsupported_unless(ELEMENTS)


# Bytes of a table of weights that may be larger than the result: computing weights takes longer than reading them.
_MAX_TABLE = 1 << 20
# The modes whose weights the kernel can compute, with the first element relative to the coordinate rounded down.
_WINDOWS = {"linear": 0, "linear_onnx": 0, "cubic": -1}
# Seconds on one core for an element of the output and each axis that is resampled.
_SECONDS_PER_ELEMENT = 4e-9


def _estimate(operation: KernelOperation, profile: DeviceProfile) -> float:
    elements = math.prod(operation.result.shape)
    return 2 * (elements * _SECONDS_PER_ELEMENT / profile.compute_units + profile.launch_seconds)


@lowers(ops.Interpolate, ops.InterpolateV4, ops.InterpolateV1, unsupported=_unsupported, estimate=_estimate)
def interpolate(lowering: Lowering, node: ops.Interpolate | ops.InterpolateV4 | ops.InterpolateV1) -> None:
    data, output = node.input_value(0), node.output(0)
    settings = node.to_interpolate_11(len(data.shape)) if isinstance(node, ops.InterpolateV1) else node
    pads = settings.pads_of(len(data.shape))
    shape = tuple(length + sum(pad) for length, pad in zip(data.shape, pads))
    buffer = lowering.buffer(data)
    resampled = resampled_axes_of(settings, shape, shape_input(node, settings.target_index))
    filters = [(along.axis, _filter_or_taps(settings, along, node.output(0))) for along in resampled]
    if any(map(any, pads)):
        count, size = math.prod(shape), data.element_type.size
        buffer = lowering.scratch(count, size) if resampled else lowering.buffer(output)
        begins = [begin for begin, _ in pads]
        pad_by_number(lowering, data, begins, None, buffer, View.dense(shape, data.element_type.size))
    elif not resampled:
        return lowering.share(output, data)
    _resample_axes(lowering, node, buffer, shape, filters, rounds_each_axis(settings, data.element_type))


def resampled_axes_of(
    node: ops.Interpolate | ops.InterpolateV4, shape: Sequence[int], target: np.ndarray
) -> list[ResampledAxis]:
    """Return the axes of padded data of this shape that a node resamples to its target."""
    axes = shape_input(node, node.input_index("axes")) if node.has_input("axes") else None
    with np.errstate(divide="ignore"):  # the scale of an axis without an element
        return resampled_axes(node, tuple(shape), target, axes)


@lowers(ops.Resize, unsupported=_unsupported)
def resize(lowering: Lowering, node: ops.Resize) -> None:
    data = node.input_value(0)
    roi = shape_input(node, 2) if node.has_input("roi") else None
    axes = resized_axes(node, tuple(data.shape), shape_input(node, 1), roi)
    if not axes:
        return lowering.share(node.output(0), data)
    filters: list[tuple[int, Taps | _Filter]] = []
    masks: list[tuple[int, np.ndarray | None]] = []
    for resized in axes:
        computed = _filter_of(node, resized) if lowering.profile.has_doubles else None
        if computed is not None:
            filters.append((resized.axis, computed))
        else:
            taps, outside = taps_of_resize(node, resized)
            filters.append((resized.axis, taps))
            masks.append((resized.axis, outside))
    _resample_axes(lowering, node, lowering.buffer(data), data.shape, filters)
    for axis, outside in masks:
        if outside is not None and outside.any():
            _extrapolate(lowering, node, axis, outside)


class _Filter(NamedTuple):
    """The weights of an axis of ``size`` positions, which the kernel computes: two numbers and macros for it."""

    size: int
    numbers: tuple[np.floating, np.floating]
    macros: dict[str, object]


def _needs_large_table(taps: int, size: int, output: Output) -> bool:
    """Return whether a table of the weights of an axis would be larger than the result, and long."""
    return 8 * taps * size > max(_MAX_TABLE, math.prod(output.shape) * output.element_type.size)


def _filter_or_taps(node: ops.Interpolate | ops.InterpolateV4, along: ResampledAxis, output: Output) -> _Filter | Taps:
    slope, reach = linear_filter(node, along)
    if node.mode not in _WINDOWS or not _needs_large_table(2, along.size, output):
        return taps_along(node, along)
    first = -reach if node.mode == "linear" else _WINDOWS[node.mode]
    coordinate, numbers = "(index + 0.5f) / second - 0.5f", (np.float32(0), np.float32(along.scale))
    if node.coordinate_transformation_mode == "asymmetric":
        coordinate = "index / second"
    elif node.coordinate_transformation_mode == "tf_half_pixel_for_nn":
        coordinate = "(index + 0.5f) / second"
    elif node.coordinate_transformation_mode == "align_corners":
        coordinate, numbers = "index * first / second", (np.float32(along.length - 1), np.float32(along.size - 1))
    if node.mode == "linear_onnx":
        coordinate = f"clamp({coordinate}, 0.0f, (float)(length - 1))"
    shrink = float(slope) if node.mode == "linear" else 1.0
    macros = _macros("float", coordinate, shrink, first, node.mode == "cubic", node.cube_coeff, node.mode != "cubic")
    return _Filter(along.size, numbers, macros)


def _filter_of(node: ops.Resize, resized: ResizedAxis) -> _Filter | None:
    """Return the filter of an axis whose table would be too large, else None."""
    if node.mode == "nearest" or node.coordinate_transformation_mode == "tf_crop_and_resize":
        return None
    shrink, first = window(node, resized.scale)
    if not _needs_large_table(2 - 2 * first, resized.size, node.output(0)):
        return None
    ends = coordinates(node, resized, np.array([0.0, resized.size - 1.0]))
    step = np.float64((ends[1] - ends[0]) / (resized.size - 1))
    is_cubic, coordinate = node.mode == "cubic", "first + second * index"
    macros = _macros("double", coordinate, shrink, first, is_cubic, node.cube_coeff, bool(node.exclude_outside))
    return _Filter(resized.size, (np.float64(ends[0]), step), macros)


def _macros(
    real: str, coordinate: str, shrink: float, first: int, is_cubic: bool, coefficient: float, excludes: bool
) -> dict[str, object]:
    numbers = {"SHRINK": shrink, "COEFFICIENT": coefficient}
    literals = {name: f"((REAL){float(number).hex()})" for name, number in numbers.items()}
    flags = {"CUBIC": int(is_cubic), "EXCLUDED": int(excludes)}
    return {"REAL": real, "COORDINATE": coordinate, "FIRST": f"({first})", **literals, **flags}


def _extrapolate(lowering: Lowering, node: ops.Resize, axis: int, outside: np.ndarray) -> None:
    """Fill the elements that lie outside of the data along an axis with the extrapolation value."""
    output = node.output(0)
    number = lowering.constant(rounded(np.array(node.extrapolation_value), output.element_type.to_dtype()))
    target = view_of(output)
    # One copy per run of such elements; there is at most one at each end.
    edges = np.flatnonzero(np.diff(outside, prepend=False, append=False))
    for begin, end in edges.reshape(-1, 2).tolist():
        filled = target[(slice(None),) * axis + (slice(begin, end),)]
        fill(lowering, number, lowering.buffer(output), filled)


def _resample_axes(
    lowering: Lowering,
    node: Node,
    buffer: Buffer,
    shape: Sequence[int],
    axes: Sequence[tuple[int, Taps | _Filter]],
    rounds_each: bool = False,
) -> None:
    """Launch the resampling of data of a shape along these axes, one after the other, into the output of a node.

    With ``rounds_each``, results are rounded after each axis, from the last to the first.
    """
    output, shape, taps = node.output(0), list(shape), dict(axes)
    if 0 in shape and 0 not in output.shape:
        raise UnsupportedOperationError(f"{lowering.type_name} '{lowering.name}' cannot resize data without elements")
    kind, last = output.element_type, len(shape) - 1
    is_copy = all(not isinstance(used, _Filter) and used[1] is None for used in taps.values())
    sums = Type.f64 if kind is Type.f64 else Type.f32
    while taps:
        axis = max(taps) if rounds_each else min(taps)
        before = shape.copy()
        used = taps.pop(axis)
        shape[axis] = used.size if isinstance(used, _Filter) else len(used[0])
        # Intermediate results keep the type of sums, so that results are rounded once.
        result = sums if taps and not is_copy and not rounds_each else output.element_type
        if isinstance(used, _Filter):
            out = lowering.scratch(math.prod(shape), result.size) if taps else lowering.buffer(output)
            _launch_filter(lowering, used, before, axis, [buffer, out], {"DATA": kind, "OUT": result}, output)
            buffer, kind = out, result
            continue
        rows: Taps | None = used
        columns: Taps | None = None
        if axis == last:
            outer, height, width = math.prod(before[:-2]), math.prod(before[-2:-1]), before[axis]
            rows, columns = None, rows
        else:
            outer, height, width = math.prod(before[:axis]), before[axis], math.prod(before[axis + 1 :])
            # Weighted sums need fewer operations one axis at a time; copies do not.
            following = taps.get(last)
            if axis + 1 == last and is_copy and isinstance(following, tuple):
                columns = cast(Taps, taps.pop(last))
                shape[last] = len(columns[0])
        out = lowering.scratch(math.prod(shape), result.size) if taps else lowering.buffer(output)
        types = dict.fromkeys(("DATA", "OUT"), WORD_TYPES[kind.size]) if is_copy else {"DATA": kind, "OUT": result}
        macros = _taps_and_sums(rows, columns, sums, result, output.element_type)
        tables = _tables(lowering, rows, columns, sums)
        out_height, out_width = len(rows[0]) if rows else height, len(columns[0]) if columns else width
        group = 64 if out_width > 16 else 16
        size = [-(-out_width // group) * group, out_height, outer]
        text, arguments = source("interpolation", types, **macros), [buffer, out, *tables]
        lowering.launch(text, "interpolation", [*arguments, height, width, out_height, out_width], size, [group, 1, 1])
        buffer, kind = out, result


def _launch_filter(
    lowering: Lowering,
    used: _Filter,
    shape: Sequence[int],
    axis: int,
    buffers: Sequence[Buffer],
    types: dict[str, Type],
    output: Output,
) -> None:
    sums = Type.f64 if types["DATA"] is Type.f64 else Type.f32
    outer, inner = math.prod(shape[:axis]), math.prod(shape[axis + 1 :])
    macros = used.macros | _sums(sums, types["OUT"], output.element_type) | {"IS_INNER_FIRST": int(inner > 16)}
    text = source("long_interpolation", types, **macros)
    arguments: list[Argument] = [*buffers, *used.numbers, shape[axis], inner, used.size]
    group = 64 if max(inner, used.size) > 16 else 16
    lengths = (inner, used.size) if inner > 16 else (used.size, inner)
    size = [-(-lengths[0] // group) * group, lengths[1], outer]
    lowering.launch(text, "long_interpolation", arguments, size, [group, 1, 1])


def _tables(lowering: Lowering, rows: Taps | None, columns: Taps | None, sums: Type) -> list[Buffer]:
    """Return buffers of the indices and weights along the resampled axes."""
    tables = []
    for indices, weights in filter(None, (rows, columns)):
        tables.append(lowering.constant(np.ascontiguousarray(indices.T, np.int32)))
        if weights is not None:
            tables.append(lowering.constant(np.ascontiguousarray(weights.T, sums.to_dtype())))
    return tables


def _taps_and_sums(
    rows: Taps | None, columns: Taps | None, sums: Type, result: Type, output: Type
) -> dict[str, object]:
    """Return the macros of a pass with results of type ``result``; ``output`` is the type of the node's output."""
    macros: dict[str, object] = {"ROW_TAPS": rows[0].shape[1] if rows else 0}
    macros["COLUMN_TAPS"] = columns[0].shape[1] if columns else 0
    if all(taps is None or taps[1] is None for taps in (rows, columns)):
        return macros | {"WEIGHTED": 0}
    return macros | {"WEIGHTED": 1} | _sums(sums, result, output)


def _sums(sums: Type, result: Type, output: Type) -> dict[str, object]:
    """Return the macros of sums with results of type ``result``; ``output`` is the type of the node's output."""
    finish = "(x)" if result.is_real() else f"convert_{ELEMENTS[result].stored}_sat_rte(x)"
    return {
        "WHOLE": int(output.is_integer()),
        "SUM": ELEMENTS[sums].stored,
        "FINISH(x)": "((x) != 0)" if result is Type.boolean else finish,
    }


@implements(ops.Interpolate, ops.InterpolateV4)
class BlockedInterpolation(OnBlockedImages):
    """Resamples rows and columns at once; each vector holds neighboring channels, so no element is moved within one."""

    def mismatch(self, operation: KernelOperation, profile: DeviceProfile) -> str | None:
        if reason := super().mismatch(operation, profile):
            return reason
        node = operation.main
        if any(map(any, node.pads_of(4))):
            return "there is no padding"
        is_spatial = operation.source(0).shape[:2] == operation.result.shape[:2]
        return None if is_spatial else "it resamples spatial axes"

    def emit(
        self, lowering: Lowering, operation: KernelOperation, signature: Signature, configuration: Configuration
    ) -> None:
        node, image, output = operation.main, operation.source(0), operation.result
        blocks = Blocks(lowering.profile.vector_width)
        resampled = resampled_axes_of(node, image.shape, shape_input(node, node.target_index))
        taps = {along.axis: taps_along(node, along) for along in resampled}
        (rows, row_weights), (columns, column_weights) = (
            _filled(taps.get(axis), output.shape[axis]) for axis in (2, 3)
        )
        macros = {"ROW_TAPS": len(rows), "COLUMN_TAPS": len(columns)}
        source = blocked_source("blocked_interpolation", image.element_type, blocks.size, macros)
        tables = [lowering.constant(table) for table in (rows, row_weights, columns, column_weights)]
        buffers = [lowering.buffer(image, blocks), lowering.buffer(output, blocks), *tables]
        numbers, sizes = [*image.shape[2:], *output.shape[2:]], row_parts(operation, lowering.profile)
        lowering.launch(source, "blocked_interpolation", [*buffers, *numbers], sizes, [1, 1])


def _filled(taps: Taps | None, length: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the indices and weights of an axis as [tap, position], of one that is not resampled too."""
    indices, weights = taps or (np.arange(length)[:, None], None)
    if weights is None:
        weights = np.ones(indices.shape)
    return np.ascontiguousarray(indices.T, np.int32), np.ascontiguousarray(weights.T, np.float32)
