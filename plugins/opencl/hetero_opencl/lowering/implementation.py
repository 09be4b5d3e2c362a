"""Implementations: the ways in which a device can run an operation, and the choice between them."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from hetero_opencl.device.device_profile import DeviceProfile
from hetero_opencl.lowering.layouts import ROWS, Layout
from hetero_opencl.lowering.operation import KernelOperation
from hetero_opencl.lowering.tuning import Tuning, operation_key

if TYPE_CHECKING:
    from hetero_opencl.lowering.lowering import Lowering

# Sizes and variants that an implementation can choose, such as those of a tile, by name.
Configuration = Mapping[str, int]


class Signature(NamedTuple):
    """The layouts of an operation's inputs, in order, and of its outputs. Constants get any layout for nothing."""

    inputs: tuple[Layout, ...]
    output: Layout


class Implementation(ABC):
    """One way to run operations of some types: a class in a file of its own, with its .cl file.

    ``implements`` of kernels/common/registry.py registers it. The fastest of all that match is selected, together with
    the layouts of the values between operations.
    """

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
    """Return the signature with one layout for everything."""
    return Signature((layout,) * operation.node.get_input_size(), layout)


def traffic(operation: KernelOperation) -> int:
    """Return the bytes of all inputs and outputs."""
    values = [*operation.node.input_values(), *operation.node.outputs()]
    return sum(math.prod(value.shape) * value.element_type.size for value in values if value.partial_shape.is_static)


def candidates_of(
    operation: KernelOperation, implementations: Iterable[Implementation], profile: DeviceProfile
) -> Iterator[list[Choice]]:
    """Yield a list for each implementation that matches, and each of its signatures: a choice per configuration."""
    for implementation in implementations:
        if implementation.mismatch(operation, profile):
            continue
        for signature in implementation.signatures(operation, profile):
            yield [
                Choice(
                    implementation,
                    signature,
                    configuration,
                    implementation.estimate(operation, signature, configuration, profile),
                )
                for configuration in implementation.configurations(operation, signature, profile)
            ]


def choices_of(
    operation: KernelOperation, implementations: Iterable[Implementation], profile: DeviceProfile, tuning: Tuning
) -> list[Choice]:
    """Return the best of each list of ``candidates_of``: the one that was measured, else that with the least estimate.

    A measurement counts only if the implementation still has its configuration.
    """
    choices = []
    measurements = tuning.measurements.get(operation_key(operation), {}) if tuning.measurements else {}
    for candidates in candidates_of(operation, implementations, profile):
        best = min(candidates, key=lambda choice: choice.seconds)
        measured = measurements.get(best.key)
        tuned = [choice for choice in candidates if measured and choice.configuration == measured.configuration]
        choices.append(replace(tuned[0], seconds=measured.seconds, is_measured=True) if measured and tuned else best)
    return choices
