"""MaxPool, AvgPool and their adaptive variants, over one to three spatial dimensions."""

from __future__ import annotations

import math
from collections.abc import Sequence

from hetero import ops
from hetero.core.lengths.length import check_row
from hetero.core.types import Type, lowest
from hetero.graph import Node, constant_array
from hetero.ops.windows import overlapping_elements
from hetero_opencl.kernels.common.blocked_windows import OnBlocks, blocked_source, blocked_window
from hetero_opencl.kernels.common.definition import ELEMENTS, implements, lowers, source, unsupported_types
from hetero_opencl.kernels.common.windows import check_dimensions, in_three, make_window, unsupported_dimensions
from hetero_opencl.lowering.implementation import Blocks, Configuration, KernelOperation, Signature
from hetero_opencl.lowering.lowering import LARGEST_COUNT, Lowering
from hetero_opencl.profiles.profile import DeviceProfile

Pooling = ops.MaxPoolV1 | ops.MaxPoolV8 | ops.AvgPoolV1

# Rows shorter than this are not computed in vectors.
_FEWEST_LANES = 4


def _unsupported_max(node: Pooling) -> str | None:
    return unsupported_types(node) or unsupported_dimensions(len(node.kernel_shape))


def _unsupported_adaptive_mean(node: Node) -> str | None:
    is_boolean = node.get_input_element_type(0) is Type.boolean
    return f"no kernel for {node.type_info.name} of boolean" if is_boolean else unsupported_types(node)


def _unsupported_mean(node: ops.AvgPoolV1) -> str | None:
    count = math.prod(node.kernel_shape)
    too_large = f"a window has {count} elements; kernels count up to {LARGEST_COUNT}" if count > LARGEST_COUNT else None
    return _unsupported_adaptive_mean(node) or unsupported_dimensions(len(node.kernel_shape)) or too_large


@lowers(ops.AvgPool, ops.AvgPoolV1, ops.AvgPoolV14, unsupported=_unsupported_mean)
@lowers(ops.MaxPool, ops.MaxPoolV1, ops.MaxPoolV8, unsupported=_unsupported_max)
def pooling(lowering: Lowering, node: Pooling) -> None:
    data, output = node.input_value(0), node.output(0)
    begin, _ = node.resolve_pads(data.shape[2:])
    kind, positions = data.element_type, output.shape[2:]
    window = make_window(*effective_window(node, data.shape[2:], positions, begin))
    sizes = [in_three(data.shape[2:]), in_three(positions), *window]
    numbers = [number for lengths in sizes for number in lengths]
    if isinstance(node, ops.MaxPoolV8) and node.output(1).get_target_inputs():
        return _max_with_indices(lowering, node, numbers)
    count_padding, macros = False, {"IS_MAX": 1, "START": lowest_literal(kind), "SUM": ELEMENTS[kind].value}
    if isinstance(node, ops.AvgPoolV1):
        count_padding = counts_padding(node)
        macros = {"IS_MAX": 0, "START": 0, "SUM": _sum_type(kind), "WHOLE": int(_sum_type(kind) == "ulong")}
    # Where there are vectors a work-item computes 16 neighbors, else these are separate work-items.
    is_fit = ELEMENTS[kind].value == "float" and positions[-1] >= _FEWEST_LANES and window.strides[2] <= 2
    in_vectors = lowering.profile.vector_width > 1 and is_fit
    step = {"STEP": window.strides[2]} if in_vectors else {}
    text = source("pooling", {"DATA": kind}, COUNT_PADDING=int(count_padding), **macros, **step)
    planes, rows = math.prod(data.shape[:2]), math.prod(output.shape[:-1])
    size = math.prod(node.kernel_shape) if count_padding else 0
    items = rows * (-(-positions[-1] // 16) if in_vectors else positions[-1])
    lowering.launch_flat(text, "pooling", [data, output, *numbers, size, planes], items)


def counts_padding(node: Pooling) -> bool:
    """Return whether a mean counts the elements of the padding.

    As in OpenVINO, the part of a window beyond the end (rounding_type ceil) counts only if there is padding.
    """
    begin, end = node.resolve_pads(node.get_input_shape(0)[2:])
    return isinstance(node, ops.AvgPoolV1) and not node.exclude_pad and any((*begin, *end))


def effective_window(
    node: Pooling, lengths: Sequence[int], positions: Sequence[int], begin: Sequence[int]
) -> tuple[list[int], Sequence[int], Sequence[int], list[int]]:
    """Return kernel, strides, dilations and leading padding of the part of the window that overlaps the data.

    A window may be far larger than the data; positions that meet only padding would waste time.
    """
    axes = list(zip(lengths, positions, node.kernel_shape, node.strides, node.dilations, begin))
    parts = [overlapping_elements(*axis) for axis in axes]
    pads = [pad - part.start * dilation for part, (*_, dilation, pad) in zip(parts, axes)]
    return list(map(len, parts)), node.strides, node.dilations, pads


def _max_with_indices(lowering: Lowering, node: ops.MaxPoolV8, numbers: Sequence[int]) -> None:
    """Launch MaxPool with indices. ``numbers`` are the kernel arguments for lengths and window."""
    data, kind = node.input_value(0), node.get_input_element_type(0)
    # At least 1, to avoid a division by 0 for data without elements.
    indices = max(1, math.prod(data.shape[node.axis % len(data.shape) :]))
    text = source("indexed_pooling", {"DATA": kind, "INDEX": node.index_element_type}, START=lowest_literal(kind))
    count = math.prod(node.output(0).shape)
    lowering.launch_flat(text, "indexed_pooling", [data, *node.outputs(), *numbers, indices], count)


@lowers(ops.AdaptiveAvgPool, unsupported=_unsupported_adaptive_mean)
@lowers(ops.AdaptiveMaxPool, unsupported=unsupported_types)
def adaptive_pooling(lowering: Lowering, node: ops.AdaptiveAvgPool | ops.AdaptiveMaxPool) -> None:
    data, outputs = node.input_value(0), node.outputs()
    check_dimensions(lowering, len(data.shape) - 2)
    kind, is_max = data.element_type, isinstance(node, ops.AdaptiveMaxPool)
    types = {"DATA": kind, **({"INDEX": outputs[1].element_type} if is_max else {})}
    macros = {"SUM": _sum_type(kind)}
    if not kind.is_real():
        macros = {"SUM": "ulong", "WHOLE": "long" if kind.is_signed() else "ulong"}
    text = source("adaptive_pooling", types, IS_MAX=int(is_max), **macros)
    sizes = (*in_three(data.shape[2:]), *in_three(outputs[0].shape[2:]))
    lowering.launch_flat(text, "adaptive_pooling", [data, *outputs, *sizes], math.prod(outputs[0].shape))


def lowest_literal(kind: Type) -> str:
    """Return the lowest number of a type, as OpenCL C."""
    number = lowest(kind.to_dtype())
    if kind.is_real():
        return f"({float(number).hex()}{'' if kind is Type.f64 else 'f'})"
    # C has no literal for the lowest 64-bit integer.
    return f"({int(number) + 1}L - 1)" if kind.is_signed() else "0"


def _sum_type(kind: Type) -> str:
    """Return the C type in which means accumulate: float for narrow integers, as in the reference; wide ones wrap."""
    if kind is Type.f64:
        return "double"
    return "float" if kind.is_real() or kind.size < 4 else "ulong"


class _PoolingOnBlocks(OnBlocks):
    """Base of implementations for several channels: those of a single one are rows."""

    def mismatch(self, operation: KernelOperation, profile: DeviceProfile) -> str | None:
        reason = super().mismatch(operation, profile)
        return reason or ("it has several channels" if operation.source(0).shape[1] == 1 else None)


@implements(ops.MaxPool, ops.MaxPoolV1, ops.MaxPoolV8, ops.AvgPool, ops.AvgPoolV1, ops.AvgPoolV14)
class BlockedPooling(_PoolingOnBlocks):
    """MaxPool without indices, and AvgPool."""

    def mismatch(self, operation: KernelOperation, profile: DeviceProfile) -> str | None:
        node = operation.main
        if isinstance(node, ops.MaxPoolV8) and node.output(1).get_target_inputs():
            return "no indices are computed"
        return super().mismatch(operation, profile)

    def emit(
        self, lowering: Lowering, operation: KernelOperation, signature: Signature, configuration: Configuration
    ) -> None:
        node, data, output = operation.main, operation.source(0), operation.node.output(0)
        blocks = Blocks(lowering.profile.vector_width)
        begin, _ = node.resolve_pads(data.shape[2:])
        effective = effective_window(node, data.shape[2:], output.shape[2:], begin)
        placed, counted = blocked_window(data.shape[2:], output.shape[2:], *effective), counts_padding(node)
        positions, batch = placed.positions(), data.shape[0]
        check_row(placed.width, positions)
        macros = {
            "I": positions, "EDGE": min(placed.edge, positions), "STRIDE": placed.window.strides[2],
            "COUNT_PADDING": int(counted),
            "IS_MAX": int(not isinstance(node, ops.AvgPoolV1)), "START": lowest_literal(data.element_type),
        }  # fmt: skip
        text = blocked_source("blocked_pooling", data.element_type, blocks.size, macros)
        size = math.prod(node.kernel_shape) if counted else 0
        numbers = [*placed.numbers(), size, batch]
        buffers = [lowering.buffer(data, blocks), lowering.buffer(output, blocks)]
        tiles, planes = -(-placed.width // positions), -(-data.shape[1] // blocks.size) * batch
        sizes = [tiles, placed.row_groups(tiles * planes, lowering.profile), planes]
        lowering.launch(text, "blocked_pooling", [*buffers, *numbers], sizes, [1, 1, 1])


@implements(ops.ReduceMean)
class BlockedMean(_PoolingOnBlocks):
    """Mean over all spatial positions."""

    def mismatch(self, operation: KernelOperation, profile: DeviceProfile) -> str | None:
        node, shape = operation.main, operation.source(0).shape
        axes = constant_array(node.input_value(1))
        if axes is None or not node.attribute_values()["keep_dims"]:
            return "axes stay, with length 1"
        if {int(axis) % max(1, len(shape)) for axis in axes.reshape(-1)} != set(range(2, len(shape))):
            return "it reduces all spatial axes"
        return super().mismatch(operation, profile)

    def emit(
        self, lowering: Lowering, operation: KernelOperation, signature: Signature, configuration: Configuration
    ) -> None:
        data, blocks = operation.source(0), Blocks(lowering.profile.vector_width)
        text = blocked_source("blocked_mean", data.element_type, blocks.size, {})
        planes = -(-data.shape[1] // blocks.size) * data.shape[0]
        buffers = [lowering.buffer(data, blocks), lowering.buffer(operation.result, blocks)]
        numbers = [math.prod(data.shape[2:]), data.shape[0]]
        lowering.launch(text, "blocked_mean", [*buffers, *numbers], [planes], [1])
