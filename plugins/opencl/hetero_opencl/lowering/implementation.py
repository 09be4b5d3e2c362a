"""Operations to lower, memory layouts of values, the ways in which a device can run an operation, and their choice."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from hetero import ops
from hetero.core.lengths.length import AnyLength, about, choosing
from hetero.graph import Node, Output, is_constant
from hetero_opencl.device.transfers import contiguous
from hetero_opencl.lowering.tuning import Tuning, operation_key
from hetero_opencl.profiles.profile import DeviceProfile, Family

if TYPE_CHECKING:
    from hetero_opencl.lowering.lowering import Lowering


class Layout(ABC):
    """An arrangement of the elements of a value in a buffer."""

    @abstractmethod
    def __str__(self) -> str: ...

    @abstractmethod
    def storage_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        """Return the shape of the stored elements, the last axis contiguous."""

    @abstractmethod
    def arrange(self, array: np.ndarray) -> np.ndarray:
        """Return the elements of a constant in this layout."""

    @abstractmethod
    def is_row_major(self, shape: Sequence[int]) -> bool:
        """Return whether a value of this shape has its elements in row-major order; padding may follow."""


@dataclass(frozen=True)
class Rows(Layout):
    """Row-major order without padding."""

    def __str__(self) -> str:
        return "rows"

    def storage_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        return tuple(shape)

    def arrange(self, array: np.ndarray) -> np.ndarray:
        return contiguous(array)

    def is_row_major(self, shape: Sequence[int]) -> bool:
        return True


ROWS = Rows()


@dataclass(frozen=True)
class Blocks(Layout):
    """Blocks of channels: ``[N, C, spatial…]`` is stored as ``[C / size, N, spatial…, size]``, C rounded up to blocks.

    The elements of the padding are arbitrary numbers. One channel is stored without padding. Concatenation along the
    channels is contiguous, for batches too.
    """

    size: int

    def __str__(self) -> str:
        return f"blocks of {self.size} channels"

    def storage_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        batch, channels, *spatial = shape
        size = 1 if channels == 1 else self.size
        return -(-channels // size), batch, *spatial, size

    def arrange(self, array: np.ndarray) -> np.ndarray:
        blocks, batch, *spatial, size = self.storage_shape(array.shape)
        padding = blocks * size - array.shape[1]
        padded = np.pad(array, [(0, 0), (0, padding), *[(0, 0)] * len(spatial)])
        split = padded.reshape(batch, blocks, size, *spatial)
        return contiguous(np.moveaxis(np.moveaxis(split, 2, -1), 1, 0))

    def is_row_major(self, shape: Sequence[int]) -> bool:
        batch, channels, *spatial = shape
        return channels == 1 or batch * math.prod(spatial) == 1


@dataclass(frozen=True)
class Permuted(Layout):
    """The axes in another order; the last one is contiguous."""

    order: tuple[int, ...]

    def __str__(self) -> str:
        return f"axes {','.join(map(str, self.order))}"

    def storage_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        return tuple(shape[axis] for axis in self.order)

    def arrange(self, array: np.ndarray) -> np.ndarray:
        return contiguous(array.transpose(self.order))

    def is_row_major(self, shape: Sequence[int]) -> bool:
        long = [axis for axis in self.order if shape[axis] > 1]
        return long == sorted(long)


def column_major(rank: int) -> Permuted:
    """Return the layout of matrices with the last two axes exchanged (column-major)."""
    return Permuted((*range(rank - 2), rank - 1, rank - 2))


class KernelOperation:
    """A node of the graph, seen as an anchor with a prologue and an epilogue.

    ``anchor`` is the node itself unless that is Fused; then it may be None. Values inside of a Fused node are those of
    its body; ``outer`` maps those that cross its border to values of the graph. ``is_of_lengths``: whether the program
    is for a class of lengths, so that those of other classes may share its constants.
    """

    def __init__(self, node: Node, is_of_lengths: bool = False) -> None:
        self.node, self.is_of_lengths = node, is_of_lengths
        self.anchor: Node | None = node
        self.nodes: Sequence[Node] = [node]
        self.prologue: Sequence[Node] = []
        self.epilogue: Sequence[Node] = []
        if isinstance(node, ops.Fused):
            self.anchor, self.nodes = node.anchor, node.operations
            self.prologue, self.epilogue = node.prologue, node.epilogue

    @cached_property
    def _outer(self) -> dict[Output, Output]:
        if not isinstance(self.node, ops.Fused):
            return {}
        ports = zip(self.node.body.parameters, self.node.input_values())
        result = self.node.body.results[0].input_value(0)
        return {**{parameter.output(0): value for parameter, value in ports}, result: self.node.output(0)}

    def outer(self, value: Output) -> Output:
        """Return the value of the graph that a value of the body stands for, or the value itself if there is none."""
        return self._outer.get(value, value)

    @property
    def name(self) -> str:
        return self.node.friendly_name

    @property
    def main(self) -> Any:
        """The anchor, or the last element-wise node if there is no anchor. Kernels know the attributes of its class."""
        return self.anchor or self.nodes[-1]

    @property
    def type_name(self) -> str:
        return self.main.type_info.name

    @property
    def result(self) -> Output:
        """The only output."""
        return self.node.output(0)

    def source(self, index: int) -> Output:
        """Return an input of the anchor as it is before the prologue."""
        value = self.main.input_value(index)
        while value.node in self.prologue:
            value = value.node.input_value(0)
        return value

    def lengths(self) -> Iterator[AnyLength]:
        """Yield those of all inputs and outputs."""
        for value in (*self.node.input_values(), *self.node.outputs()):
            if value.partial_shape.is_static:
                yield from value.shape

    def __contains__(self, node: Node) -> bool:
        return node in self.nodes


# Sizes and variants that an implementation can choose, such as those of a tile, by name.
Configuration = Mapping[str, int]


class Signature(NamedTuple):
    """The layouts of an operation's inputs, in order, and of its outputs. Constants get any layout for nothing."""

    inputs: tuple[Layout, ...]
    output: Layout


class Implementation(ABC):
    """One way to run operations of some types: a class in a file of its own, with its .cl file.

    ``implements`` of kernels/common/definition.py registers it. The fastest of all that match is selected, together
    with the layouts of the values between operations.
    """

    #: The family of devices that this is written for, if not for all.
    family: ClassVar[Family | None] = None

    @property
    def name(self) -> str:
        return type(self).__name__

    def mismatch(self, operation: KernelOperation, profile: DeviceProfile) -> str | None:
        """Return the reason why this cannot run an operation on a device, or None if it can (optional)."""
        return None

    def signatures(self, operation: KernelOperation, profile: DeviceProfile) -> Iterable[Signature]:
        """Yield the layouts that this can read and write (optional); by default rows."""
        yield uniform(operation, ROWS)

    def configurations(
        self, operation: KernelOperation, signature: Signature, profile: DeviceProfile
    ) -> Iterable[Configuration]:
        """Yield the configurations that are worth trying (optional)."""
        yield {}

    def estimate(
        self, operation: KernelOperation, signature: Signature, configuration: Configuration, profile: DeviceProfile
    ) -> float:
        """Return the estimated time in seconds (optional); by default that of reading inputs and writing outputs."""
        return traffic(operation) / profile.bytes_per_second + profile.launch_seconds

    @abstractmethod
    def emit(
        self, lowering: Lowering, operation: KernelOperation, signature: Signature, configuration: Configuration
    ) -> None:
        """Add the launches of an operation (required)."""


@dataclass(frozen=True)
class Choice:
    """An implementation with the layouts and the configuration that were chosen for an operation.

    ``is_measured``: whether ``seconds`` were measured, by tuning; else they are an estimate.
    """

    implementation: Implementation
    signature: Signature
    configuration: Configuration = field(default_factory=dict)
    seconds: float = 0.0
    is_measured: bool = False

    @property
    def key(self) -> str:
        """The implementation and its layouts, as a tuning file names them."""
        return f"{self.implementation.name}: {', '.join(map(str, self.signature.inputs))} -> {self.signature.output}"


def uniform(operation: KernelOperation, layout: Layout) -> Signature:
    """Return the signature with one layout for everything but single elements."""
    return Signature(tuple(operand_layout(value, layout) for value in operation.node.input_values()), layout)


def operand_layout(value: Output, layout: Layout) -> Layout:
    """Return the layout in which kernels for a layout read an operand: single elements are in rows."""
    return ROWS if value.partial_shape.is_static and math.prod(value.shape) == 1 else layout


def traffic(operation: KernelOperation) -> int:
    """Return the bytes of all inputs and outputs, and of the constants in a body."""
    inner = [value for node in operation.nodes for value in node.input_values() if is_constant(value)]
    values = dict.fromkeys([*operation.node.input_values(), *inner, *operation.node.outputs()])
    return sum(math.prod(value.shape) * value.element_type.size for value in values if value.partial_shape.is_static)


def candidates_of(
    operation: KernelOperation, implementations: Iterable[Implementation], profile: DeviceProfile
) -> Iterator[list[Choice]]:
    """Yield a list for each implementation that matches, and each of its signatures: a choice per configuration."""
    found = []
    for implementation in implementations:
        if implementation.family in (None, profile.family) and not implementation.mismatch(operation, profile):
            for signature in implementation.signatures(operation, profile):
                with choosing(*operation.lengths()):
                    configurations = list(map(_whole, implementation.configurations(operation, signature, profile)))
                found.append((implementation, signature, configurations))
    is_choice = len(found) > 1 or any(len(configurations) > 1 for *_, configurations in found)
    for implementation, signature, configurations in found:
        with choosing(*operation.lengths(), is_estimate=True, notes_buckets=is_choice):
            seconds = [implementation.estimate(operation, signature, each, profile) for each in configurations]
        yield [Choice(implementation, signature, *each) for each in zip(configurations, seconds)]


def _whole(configuration: Configuration) -> Configuration:
    """Return a configuration of numbers, as sizes of shapes may be Lengths."""
    return {key: int(number) for key, number in configuration.items()}


def choices_of(
    operation: KernelOperation, implementations: Iterable[Implementation], profile: DeviceProfile, tuning: Tuning
) -> list[Choice]:
    """Return the best of each list of ``candidates_of``: the one that was measured, else that with the least estimate.

    A measurement counts only if the implementation still has its configuration.
    """
    choices, measurements = [], {}
    if tuning.measurements:
        measurements = tuning.measurements.get(operation_key(operation), {})
        for length in operation.lengths():
            about(length)  # a measurement counts for lengths of one bucket
    for candidates in candidates_of(operation, implementations, profile):
        best = min(candidates, key=lambda choice: choice.seconds)
        measured = measurements.get(best.key)
        tuned = [choice for choice in candidates if measured and choice.configuration == measured.configuration]
        choices.append(replace(tuned[0], seconds=measured.seconds, is_measured=True) if measured and tuned else best)
    return choices
