"""Lowering, which collects the launches and buffers of a program, and a report of what was selected and why."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from hetero.compiler import KnownLengths
from hetero.core.lengths.length import AnyLength, choosing, is_multiple
from hetero.core.types import Type
from hetero.graph import Constant, Node, Output, Parameter, class_file
from hetero.plugin import ExecutedStep
from hetero.system.errors import DeviceError
from hetero_opencl.device.launch import Buffer, Launch
from hetero_opencl.device.transfers import contiguous
from hetero_opencl.lowering.concat_parts import ConcatPart
from hetero_opencl.lowering.constants import Constants
from hetero_opencl.lowering.custom import has_custom_expression, has_custom_kernels
from hetero_opencl.lowering.implementation import ROWS, KernelOperation, Layout
from hetero_opencl.profiles.profile import DeviceProfile

if TYPE_CHECKING:
    from hetero_opencl.lowering.implementation import Choice

# Kernels index elements in 32 bits.
LARGEST_COUNT = 2**31 - 1

# Work-items of a work-group that compute a row each, and the least number of groups per compute unit of a CPU.
_ROWS_PER_GROUP, _GROUPS_PER_UNIT = 64, 8

# Launches the conversion of a value, which is in a buffer in one layout, and returns a buffer in another layout.
Convert = Callable[["Lowering", Output, Buffer, Layout, Layout], Buffer]
# An argument of a kernel: memory, or a number. A value stands for its buffer; an int, a bool or a Length for an i32.
Argument = Buffer | Output | np.generic | AnyLength


@dataclass(frozen=True)
class LayoutUse:
    """An operation reads a value, or an array made of constants, in a layout.

    ``made`` says where the value is converted to that layout; empty for rows.
    """

    name: str
    value: Output | str
    layout: str
    made: str


@dataclass
class LoweringReport:
    """The buffer of each value, the layout of each input, and the selection of each operation's implementation.

    ``choices`` are those that were considered, ``chosen`` the selected one; ``reasons`` explain its kernels.
    """

    buffers: dict[Output, Buffer] = field(default_factory=dict)
    layouts: list[LayoutUse] = field(default_factory=list)
    reasons: dict[Node, list[str]] = field(default_factory=dict)
    choices: Mapping[Node, Sequence[Choice]] = field(default_factory=dict)
    chosen: Mapping[Node, Choice] = field(default_factory=dict)


class Lowering:
    """Collects the launches and buffers of a model. The functions in kernels/ add to it."""

    def __init__(
        self,
        profile: DeviceProfile,
        constants: Constants,
        layouts: Mapping[Output, Layout],
        parts: Mapping[Output, ConcatPart],
        convert: Convert,
        report: LoweringReport,
        executor: Executor | None = None,
    ) -> None:
        """``layouts``: those of values that are not in rows. ``parts``: the values that are written into others.

        ``executor`` uploads constants, while lowering goes on.
        """
        self.profile = profile
        self._constants, self._layouts, self._parts, self._convert = constants, layouts, parts, convert
        self._report, self._executor = report, executor
        self.launches: list[Launch] = []
        self._buffers: dict[Output, Buffer] = {}
        self._inputs: set[Buffer] = set()
        self._converted: dict[tuple[Output, Layout], tuple[Buffer, str]] = {}
        self.shape_buffers: dict[Output, Buffer] = {}
        self.steps: list[ExecutedStep] = []
        self._operation: KernelOperation | None = None
        self._seconds = 0.0

    def buffer(self, value: Output, layout: Layout = ROWS) -> Buffer:
        """Return the buffer of a value in a layout; created on first use.

        A value that is not a constant is written in its assigned layout, rows by default. Launches before the first
        reader of another layout convert it, once for all readers.
        """
        if self._operation:
            value = self._operation.outer(value)
        if isinstance(value.node, Constant):
            return self._constant_value(value, layout)
        if isinstance(value.node, KnownLengths) and value not in self._buffers:
            self._write_numbers(value, value.node.numbers)
        written = self.layout(value)
        if value not in self._buffers:
            self._buffers[value] = self._new_buffer(value, written)
            if isinstance(value.node, Parameter):
                self._inputs.add(self._buffers[value])
        buffer, made = self._buffers[value], ""
        if layout != written and not (layout.is_row_major(value.shape) and written.is_row_major(value.shape)):
            buffer, made = self._converted_value(value, buffer, written, layout)
        if self._operation and value.node is not self._operation.node:
            self._note_layout(value, str(layout), made)
        return buffer

    def _write_numbers(self, value: Output, numbers: np.ndarray) -> None:
        """Write numbers that depend on the shapes of the inputs."""
        buffer = self._buffers[value] = self._new_buffer(value, ROWS)
        parameters = "".join(f", const int n{index}" for index in range(numbers.size))
        stores = " ".join(f"out[{index}] = n{index};" for index in range(numbers.size))
        kind = "int" if value.element_type.size == 4 else "long"
        text = f"__kernel void write_numbers(global {kind} *out{parameters})\n{{\n    {stores}\n}}\n"
        self.launch(text, "write_numbers", [buffer, *numbers.reshape(-1)], [1], [1])

    def layout(self, value: Output) -> Layout:
        """Return the layout in which a value is written."""
        return self._layouts.get(value, ROWS)

    def _new_buffer(self, value: Output, layout: Layout) -> Buffer:
        buffer = self.scratch(math.prod(layout.storage_shape(value.shape)), value.element_type.size)
        if value in self._parts:
            whole, offset = self._parts[value]
            return self._part(self.buffer(whole, self.layout(whole)), offset, buffer.byte_size)
        return buffer

    @staticmethod
    def _part(buffer: Buffer, offset: int, byte_size: int) -> Buffer:
        return Buffer(byte_size, whole=buffer.whole or buffer, offset=buffer.offset + offset)

    def _constant_value(self, value: Output, layout: Layout) -> Buffer:
        array = cast(Constant, value.node).data
        if layout == ROWS:
            self._note_layout(value, str(layout))
            return self.constant(array)
        return self.constant(array, (layout,), layout.arrange)

    def _converted_value(self, value: Output, buffer: Buffer, written: Layout, layout: Layout) -> tuple[Buffer, str]:
        """Return a value in another layout than the one it is written in, and where it is converted."""
        if (value, layout) in self._converted:
            buffer, reader = self._converted[value, layout]
            return buffer, f"for '{reader}'"
        converted = self._convert(self, value, buffer, written, layout)
        self._converted[value, layout] = converted, self.name
        return converted, "here"

    def _note_layout(self, value: Output | str, layout: str, made: str = "") -> None:
        if self._operation:
            self._report.layouts.append(LayoutUse(self.name, value, layout, made))

    def note_decision(self, reason: str) -> None:
        """Record why the kernels of the current node were selected, for the lowering report."""
        self._report.reasons.setdefault(self.operation.node, []).append(reason)

    def constant(
        self, array: np.ndarray, layout: tuple[Any, ...] = (), arrange: Callable[[np.ndarray], np.ndarray] = contiguous
    ) -> Buffer:
        """Return a buffer that holds ``arrange(array)``; ``layout`` identifies the arrangement."""
        if layout:
            arrangement = " ".join(f"{item}" for item in layout)
            self._note_layout(f"constant {list(array.shape)}", arrangement, "when it is uploaded")
        return self._constants.buffer(array, layout, arrange, self._executor, self._operation_name)

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

    def shares_part(self, value: Output, source: Output, offset: int) -> bool:
        """Let a value in rows use the buffer of another one from a byte offset on, and return whether it can.

        Inputs and constants have memory of their own.
        """
        buffer, alignment = self.buffer(source), self.profile.base_alignment
        if not buffer.is_planned or buffer in self._inputs or not is_multiple(buffer.offset + offset, alignment):
            return False
        size = math.prod(value.shape) * value.element_type.size
        self._buffers[self.operation.outer(value)] = self._part(buffer, offset, size)
        return True

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
            if local and (items := math.prod(local)) > (most := self.profile.max_work_group_size):
                where = f"{self._operation_name} needs work-groups of {items} work-items on {self.profile.name}"
                raise DeviceError(f"{where}; the maximum is {most}")
            values, origin = tuple(map(self._argument, arguments)), _custom_origin(self.operation.nodes)
            self.launches.append(
                Launch(
                    source, kernel, values, tuple(global_size), local, self.name, self.type_name, origin,
                    seconds=self._seconds,
                )
            )  # fmt: skip

    def launch_flat(
        self, source: str, kernel: str, arguments: Sequence[Argument], count: int, more: Sequence[Argument] = ()
    ) -> None:
        """Add a launch of ``count`` work-items in a row, rounded up to whole groups; count stands before ``more``."""
        group = 64
        self.launch(source, kernel, [*arguments, count, *more], [-(-count // group) * group], [group])

    def launch_rows(self, source: str, kernel: str, arguments: Sequence[Argument], count: int) -> None:
        """Add a launch of ``count`` work-items that each compute a row; count is the last argument.

        Few rows are put into small groups, several per compute unit, as rows take long; not into less than a team. Each
        other group size is a program to build for some drivers.
        """
        profile, group = self.profile, _ROWS_PER_GROUP
        with choosing(count):
            while group > profile.team_size and count < group * profile.compute_units * _GROUPS_PER_UNIT:
                group //= 8
        self.launch(source, kernel, [*arguments, count], [-(-count // group) * group], [group])

    def _argument(self, argument: Argument) -> Any:
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
    def operation(self) -> KernelOperation:
        """The operation that is being lowered."""
        assert self._operation is not None
        return self._operation

    @property
    def name(self) -> str:
        return self.operation.name

    @property
    def type_name(self) -> str:
        return self.operation.type_name

    def lower(self, operation: KernelOperation, choice: Choice) -> None:
        """Add the launches of an operation."""
        before = len(self.launches)
        self._operation, self._seconds = operation, choice.seconds
        for output in operation.node.outputs():
            if output.partial_shape.is_static:
                self._check_count(math.prod(output.shape))
        try:
            choice.implementation.emit(self, operation, choice.signature, choice.configuration)
        except (OverflowError, MemoryError) as error:
            raise DeviceError(f"{self._operation_name} is too large for {self.profile.name}: {error}") from error
        self._add_step(operation, self.launches[before:])
        self._operation = None

    def result(self, value: Output) -> Buffer:
        """Return the buffer of a result, in rows. A conversion counts as a launch of the operation that computes it."""
        self._operation = KernelOperation(value.node)
        buffer = self.buffer(value)
        self._operation = None
        return buffer

    def finished_report(self) -> LoweringReport:
        """Return the report after the last operation. It keeps no constants alive."""
        self._report.buffers = {value: buffer for value, buffer in self._buffers.items() if buffer.is_planned}
        return self._report

    def _add_step(self, operation: KernelOperation, launches: Sequence[Launch]) -> None:
        kernels = dict.fromkeys(launch.kernel for launch in launches)
        self.steps.append(ExecutedStep(operation.node, "+".join(kernels) or "none", operation.type_name))


def _custom_origin(nodes: Sequence[Node]) -> str:
    """Return a suffix for messages that names the user-defined nodes and the files of their classes."""
    own = [node for node in nodes if has_custom_expression(node) or has_custom_kernels(node)]
    names = [f"{node.type_info.name} '{node.friendly_name}' in {class_file(type(node))}" for node in own]
    return f" with {', '.join(names)}" if names else ""
