"""Lowering, which collects the launches and buffers of a program."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from hetero.errors import DeviceError
from hetero.graph import Constant, Node, Output, class_file
from hetero.plugin import ExecutedStep
from hetero.types import Type
from hetero_opencl.constants import Constants, contiguous
from hetero_opencl.custom import has_custom_expression, has_custom_kernels
from hetero_opencl.device import OpenCLDevice
from hetero_opencl.lowering_report import ROWS, LayoutUse, LoweringReport
from hetero_opencl.operation import Operation
from hetero_opencl.program import Buffer, Launch

if TYPE_CHECKING:
    from hetero_opencl.kernels.layouts import Layout

# Kernels index elements in 32 bits.
LARGEST_COUNT = 2**31 - 1

# An argument of a kernel: memory, or a number. A value stands for its buffer, an int or bool for an i32.
Argument = Buffer | Output | np.generic | int


class Lowering:
    """Collects the launches and buffers of a model. The functions in kernels/ add to it."""

    def __init__(self, device: OpenCLDevice, constants: Constants) -> None:
        self.device = device
        self._constants = constants
        self._report = LoweringReport()
        self.launches: list[Launch] = []
        self._buffers: dict[Output, Buffer] = {}
        self._converted: dict[tuple[Output, Layout], tuple[Buffer, str]] = {}
        self.shape_buffers: dict[Output, Buffer] = {}
        self.steps: list[ExecutedStep] = []
        self._operation: Operation | None = None

    def buffer(self, value: Output, layout: Layout | None = None) -> Buffer:
        """Return the buffer of a value, dense and row-major or in another layout; created on first use.

        Values that are not constants are converted by launches before the first reader, once for all readers.
        """
        if self._operation:
            value = self._operation.outer(value)
        if layout is not None:
            return self._in_layout(value, layout)
        if not self._operation or value.node is not self._operation.node:
            self._note_layout(value, ROWS)
        buffer = self._buffers.get(value)
        if buffer is None:
            if isinstance(value.node, Constant):
                buffer = self.constant(value.node.data)
            else:
                buffer = self.scratch(math.prod(value.shape), value.element_type.size)
            self._buffers[value] = buffer
        return buffer

    def _in_layout(self, value: Output, layout: Layout) -> Buffer:
        if isinstance(value.node, Constant):
            return self.constant(value.node.data, (layout,), layout.arrange)
        if (value, layout) in self._converted:
            buffer, reader = self._converted[value, layout]
            self._note_layout(value, str(layout), f"for '{reader}'")
            return buffer
        buffer = layout.convert(self, value)
        self._converted[value, layout] = buffer, self.name
        self._note_layout(value, str(layout), "here")
        return buffer

    def _note_layout(self, value: Output | str, layout: str, made: str = "") -> None:
        if self._operation:
            self._report.layouts.append(LayoutUse(self.name, value, layout, made))

    def note_decision(self, reason: str) -> None:
        """Record why the kernels of the current node were selected, for the lowering report."""
        self._report.reasons.setdefault(self.operation.node, []).append(reason)

    def constant(
        self, array: np.ndarray, layout: tuple = (), arrange: Callable[[np.ndarray], np.ndarray] = contiguous
    ) -> Buffer:
        """Return a buffer that holds ``arrange(array)``; ``layout`` identifies the arrangement."""
        if layout:
            self._note_layout(f"constant {list(array.shape)}", " ".join(map(str, layout)), "when it is uploaded")
        try:
            return self._constants.buffer(array, layout, arrange)
        except DeviceError as error:
            raise DeviceError(f"{error}, for {self._operation_name}") from error

    def kept(self, initial: np.ndarray) -> Buffer:
        """Return memory of the current node shared by all programs and requests, for the state of a generator."""
        return self._constants.kept(self.name, initial)

    def scratch(self, count: int, size: int = 4) -> Buffer:
        """Return a buffer of ``count`` elements of ``size`` bytes, for data that launches of a node share."""
        self._check_count(count)
        return Buffer(count * size)

    def found_shape(self, value: Output, max_count: int) -> tuple[Buffer, Buffer]:
        """Return buffers for a value of data-dependent shape: for up to ``max_count`` elements, and for its dimensions.

        The launches of the current node write both, the dimensions as i64. The host reads the dimensions after the
        program has run. Only later programs read the value, as its shape is unknown in this one.
        """
        self._buffers[value] = self.scratch(max_count, value.element_type.size)
        self.shape_buffers[value] = self.scratch(len(value.partial_shape), Type.i64.size)
        return self._buffers[value], self.shape_buffers[value]

    def share(self, value: Output, source: Output) -> None:
        """Let a value use the buffer of another one that has the same elements in another shape."""
        self._buffers[self.operation.outer(value)] = self.buffer(source)

    def launch(
        self,
        source: str,
        kernel: str,
        arguments: Sequence[Argument],
        global_size: Sequence[int],
        local_size: Sequence[int] | None = None,
    ) -> None:
        """Add a launch for the current node, unless it has no work-items."""
        if all(global_size):
            local = tuple(local_size) if local_size else None
            values, origin = tuple(map(self._argument, arguments)), _custom_origin(self.operation.nodes)
            self.launches.append(
                Launch(source, kernel, values, tuple(global_size), local, self.name, self.type_name, origin)
            )

    def launch_flat(
        self, source: str, kernel: str, arguments: Sequence[Argument], count: int, more: Sequence[Argument] = ()
    ) -> None:
        """Add a launch of ``count`` work-items in a row, rounded up to whole groups; count stands before ``more``."""
        group = 64
        self.launch(source, kernel, [*arguments, np.int32(count), *more], [-(-count // group) * group], [group])

    def _argument(self, argument: Argument) -> Buffer | np.generic:
        if isinstance(argument, Output):
            return self.buffer(argument)
        return np.int32(argument) if isinstance(argument, int) else argument

    def _check_count(self, count: int) -> None:
        """Raise DeviceError if the current operation has more elements than kernels can index."""
        if count > LARGEST_COUNT:
            raise DeviceError(f"{self._operation_name} needs {count} elements at once; the maximum is {LARGEST_COUNT}")

    @property
    def _operation_name(self) -> str:
        return f"{self.type_name} '{self.name}'" if self._operation else "an input"

    @property
    def operation(self) -> Operation:
        """The operation that is being lowered."""
        assert self._operation is not None
        return self._operation

    @property
    def name(self) -> str:
        return self.operation.name

    @property
    def type_name(self) -> str:
        return self.operation.type_name

    def lower(self, operation: Operation, function: Callable[[Lowering, Any], None]) -> None:
        """Add the launches of an operation, by the lowering function of its anchor."""
        before = len(self.launches)
        self._operation = operation
        for output in operation.node.outputs():
            if output.partial_shape.is_static:
                self._check_count(math.prod(output.shape))
        try:
            function(self, operation.main)
        except (OverflowError, MemoryError) as error:
            name = self.device.full_name
            raise DeviceError(f"{self._operation_name} is too large for {name}: {error}") from error
        self._add_step(operation, self.launches[before:])
        self._operation = None

    def report(self) -> LoweringReport:
        """Return the report of a finished lowering. It keeps no constants alive."""
        self._report.buffers = {value: buffer for value, buffer in self._buffers.items() if buffer.is_planned}
        return self._report

    def _add_step(self, operation: Operation, launches: Sequence[Launch]) -> None:
        kernels = dict.fromkeys(launch.kernel for launch in launches)
        self.steps.append(ExecutedStep(operation.node, "+".join(kernels) or "none", operation.type_name))


def _custom_origin(nodes: Sequence[Node]) -> str:
    """Return a suffix for messages that names the user-defined nodes and the files of their classes."""
    own = [node for node in nodes if has_custom_expression(node) or has_custom_kernels(node)]
    names = [f"{node.type_info.name} '{node.friendly_name}' in {class_file(type(node))}" for node in own]
    return f" with {', '.join(names)}" if names else ""
