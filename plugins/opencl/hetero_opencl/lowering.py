"""Lowering, which collects the launches and buffers of a program."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from hetero.errors import DeviceError
from hetero.graph import Constant, Node, Output, class_file
from hetero.plugin import ExecutedStep
from hetero.types import Type
from hetero_opencl.constants import Constants, contiguous
from hetero_opencl.custom import has_custom_expression, has_custom_kernels
from hetero_opencl.device import OpenCLDevice
from hetero_opencl.lowering_report import ROWS, LayoutUse, LoweringReport
from hetero_opencl.program import Buffer, Launch

if TYPE_CHECKING:
    from hetero_opencl.fusion import Fusion
    from hetero_opencl.kernels.layouts import Layout

# Kernels count elements in 32 bits.
LARGEST_COUNT = 2**31 - 1

# An argument of a kernel: memory, or a number. A value stands for its buffer, an int or bool for an i32.
Argument = Buffer | Output | np.generic | int


class Lowering:
    """Collects the launches and buffers of a model; the functions in kernels/ are given it."""

    def __init__(self, device: OpenCLDevice, constants: Constants, fusion: Fusion) -> None:
        self.device = device
        self._constants = constants
        self.fusion = fusion
        self.decisions = LoweringReport()
        self.launches: list[Launch] = []
        self._buffers: dict[Output, Buffer] = {}
        self._converted: dict[tuple[Output, Layout], tuple[Buffer, Node]] = {}
        self.found_shapes: dict[Output, Buffer] = {}
        self.steps: list[ExecutedStep] = []
        self._node: Node | None = None
        self._computed: Sequence[Node] = ()  # what the node at hand computes, itself included

    def buffer(self, value: Output, layout: Layout | None = None) -> Buffer:
        """The buffer of a value, its elements in rows, one after the other, or in another layout; made on first use.

        What is not a constant is converted by launches before the first reader, once for all of them.
        """
        if layout is not None:
            return self._in_layout(value, layout)
        if value.node not in self._computed:
            self._tell(value, ROWS)
        buffer = self._buffers.get(value)
        if buffer is None:
            if isinstance(value.node, Constant):
                buffer = self.constant(value.node.data)
            else:
                buffer = self._buffer_of(math.prod(value.shape), value.element_type.size)
            self._buffers[value] = buffer
        return buffer

    def _in_layout(self, value: Output, layout: Layout) -> Buffer:
        if isinstance(value.node, Constant):
            return self.constant(value.node.data, (layout,), layout.arrange)
        if (value, layout) in self._converted:
            buffer, node = self._converted[value, layout]
            self._tell(value, str(layout), f"for '{node.friendly_name}'")
            return buffer
        buffer = layout.convert(self, value)
        self._converted[value, layout] = buffer, self._node
        self._tell(value, str(layout), "here")
        return buffer

    def _tell(self, value: Output | str, layout: str, made: str = "") -> None:
        if self._node:
            self.decisions.layouts.append(LayoutUse(self._node, value, layout, made))

    def note_decision(self, reason: str) -> None:
        """Say, for people to read, why the node at hand gets the kernels that it gets."""
        self.decisions.reasons.setdefault(self._node, []).append(reason)

    def constant(
        self, array: np.ndarray, layout: tuple = (), arrange: Callable[[np.ndarray], np.ndarray] = contiguous
    ) -> Buffer:
        """A buffer that holds an array as ``arrange`` gives it; ``layout`` is what sets that apart from other ways."""
        if layout:
            self._tell(f"constant {list(array.shape)}", " ".join(map(str, layout)), "when it is uploaded")
        try:
            return self._constants.buffer(array, layout, arrange)
        except DeviceError as error:
            raise DeviceError(f"{error}, for {self._operation}") from error

    def kept(self, initial: np.ndarray) -> Buffer:
        """Memory of the node at hand that stays for all programs and requests: what a generator needs."""
        return self._constants.kept(self.name, initial)

    def scratch(self, count: int, size: int = 4) -> Buffer:
        """A buffer of elements of so many bytes, for the time between two launches of a node."""
        return self._buffer_of(count, size)

    def found_shape(self, value: Output, most: int) -> tuple[Buffer, Buffer]:
        """For a value whose shape the device finds out: a buffer for ``most`` elements, and one for its dimensions.

        The launches of the node at hand fill in both, the dimensions as i64. The host reads these when the program has
        run, and what needs to know them is another program, so that here nobody else reads the value.
        """
        self._buffers[value] = self._buffer_of(most, value.element_type.size)
        self.found_shapes[value] = self._buffer_of(len(value.partial_shape), Type.i64.size)
        return self._buffers[value], self.found_shapes[value]

    def share(self, value: Output, source: Output) -> None:
        """Let a value be the same memory as another one: the same elements in another shape."""
        self._buffers[value] = self.buffer(source)

    def launch(
        self,
        source: str,
        kernel: str,
        arguments: Sequence[Argument],
        global_size: Sequence[int],
        local_size: Sequence[int] | None = None,
    ) -> None:
        """Add a launch for the node at hand; one without work-items is left out."""
        if all(global_size):
            local = tuple(local_size) if local_size else None
            self.launches.append(
                Launch(
                    source,
                    kernel,
                    tuple(map(self._argument, arguments)),
                    tuple(global_size),
                    local,
                    self.name,
                    self.type_name,
                    _written_in(self._computed),
                )
            )

    def launch_flat(self, source: str, kernel: str, arguments: Sequence[Argument], count: int) -> None:
        """Add a launch of ``count`` work-items in a row, rounded up to whole groups: the kernel is given count last."""
        group = 64
        self.launch(source, kernel, [*arguments, np.int32(count)], [-(-count // group) * group], [group])

    def _argument(self, argument: Argument) -> Buffer | np.generic:
        if isinstance(argument, Output):
            return self.buffer(argument)
        return np.int32(argument) if isinstance(argument, int) else argument

    def _buffer_of(self, count: int, size: int) -> Buffer:
        self._check_count(count)
        return Buffer(count * size)

    def _check_count(self, count: int) -> None:
        """Raise DeviceError if the operation at hand has more elements than kernels count."""
        if count > LARGEST_COUNT:
            raise DeviceError(
                f"{self._operation} needs {count} elements at once; kernels count no further than {LARGEST_COUNT}"
            )

    @property
    def _operation(self) -> str:
        return f"{self.type_name} '{self.name}'" if self._node else "an input"

    @property
    def name(self) -> str:
        return self._node.friendly_name

    @property
    def type_name(self) -> str:
        return self._node.type_info.name

    def lower(self, node: Node, function: Callable[[Lowering, Node], None]) -> None:
        """Add the launches of a node, by its lowering function."""
        before = len(self.launches)
        self._node, self._computed = node, self.fusion.computed_with(node)
        for output in node.outputs():
            if output.partial_shape.is_static:
                self._check_count(math.prod(output.shape))
        try:
            function(self, node)
        except (OverflowError, MemoryError) as error:
            raise DeviceError(f"{self._operation} is too large for {self.device.name}: {error}") from error
        self._add_step(node, self.launches[before:])
        self._node = None

    def decided(self) -> LoweringReport:
        """The decisions of a lowering that is done; they hold on to no constants."""
        self.decisions.buffers = {value: buffer for value, buffer in self._buffers.items() if buffer.is_planned}
        return self.decisions

    def _add_step(self, node: Node, launches: Sequence[Launch]) -> None:
        kernels = dict.fromkeys(launch.kernel for launch in launches)
        self.steps.append(ExecutedStep(node, "+".join(kernels) or "none", self._computed))


def _written_in(nodes: Sequence[Node]) -> str:
    """Which of the nodes bring OpenCL C of their own and where their classes are written, for messages."""
    own = [node for node in nodes if has_custom_expression(node) or has_custom_kernels(node)]
    told = [f"{node.type_info.name} '{node.friendly_name}' in {class_file(type(node))}" for node in own]
    return f" with {', '.join(told)}" if told else ""
