"""Registry of implementations, lowering functions and host steps, keyed by operation class."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from hetero.core.tensor import Tensor
from hetero.graph import Node
from hetero_opencl.device.device_profile import DeviceProfile
from hetero_opencl.lowering.implementation import Configuration, Implementation, Signature
from hetero_opencl.lowering.operation import KernelOperation

if TYPE_CHECKING:
    from hetero_opencl.lowering.lowering import Lowering

# The node is of a class that the function is registered for.
Lower = Callable[["Lowering", Any], None]
# Takes a HostStep of execute/host_steps, and its input tensors.
Run = Callable[[Any, list[Tensor]], list[Tensor]]
# Returns the reason why a node cannot be lowered, or None if it can. Shapes may be partly unknown.
Unsupported = Callable[[Any], str | None]

# Returns the estimated seconds of an operation.
Estimate = Callable[[KernelOperation, DeviceProfile], float]


class LoweringFunction(Implementation):
    """A function that reads and writes rows."""

    def __init__(self, function: Lower, estimate: Estimate | None = None) -> None:
        self._function, self._estimate = function, estimate

    @property
    def name(self) -> str:
        return self._function.__name__

    def estimate(
        self, operation: KernelOperation, signature: Signature, configuration: Configuration, profile: DeviceProfile
    ) -> float:
        if self._estimate:
            return self._estimate(operation, profile)
        return super().estimate(operation, signature, configuration, profile)

    def emit(
        self, lowering: Lowering, operation: KernelOperation, signature: Signature, configuration: Configuration
    ) -> None:
        self._function(lowering, operation.main)


class _Entry(NamedTuple):
    implementation: LoweringFunction
    unsupported: Unsupported | None


_lowerings: dict[type[Node], _Entry] = {}
# Lowering functions selected by a predicate instead of the class.
_conditional_lowerings: list[tuple[Callable[[Node], bool], _Entry]] = []
_implementations: dict[type[Node], list[Implementation]] = {}
_host_steps: dict[type[Node], Run] = {}


def lowers(
    *operations: type[Node], unsupported: Unsupported | None = None, estimate: Estimate | None = None
) -> Callable[[Lower], Lower]:
    """Register the decorated ``f(lowering, node)``, which adds the launches of a node, for these operations.

    ``unsupported`` returns the reason why a node is not supported, or None. ``estimate``, which operations with other
    implementations need, returns the seconds on a device.
    """

    def register(function: Lower) -> Lower:
        for operation in operations:
            _lowerings[operation] = _Entry(LoweringFunction(function, estimate), unsupported)
        return function

    return register


def lowers_if(matches: Callable[[Node], bool], unsupported: Unsupported) -> Callable[[Lower], Lower]:
    """Register the decorated function for each node that ``matches`` and whose class is not registered."""

    def register(function: Lower) -> Lower:
        _conditional_lowerings.append((matches, _Entry(LoweringFunction(function), unsupported)))
        return function

    return register


def custom_unsupported_reason(node: Node) -> str | None:
    """Return the result of the node's own ``opencl_unsupported_reason`` method, or None if it has none."""
    check = getattr(node, "opencl_unsupported_reason", None)
    return check() if check else None


def runs_on_host(*operations: type[Node]) -> Callable[[Run], Run]:
    """Register the decorated ``f(step, tensors)``, which executes these operations on the host.

    It may run bodies and copy within device memory, but does no arithmetic itself.
    """

    def register(function: Run) -> Run:
        _host_steps.update(dict.fromkeys(operations, function))
        return function

    return register


def is_host_step(node: Node) -> bool:
    """Return whether the host executes a node, instead of kernels."""
    return type(node) in _host_steps


def host_step_of(node: Node) -> Run:
    """Return the function that executes a node on the host."""
    return _host_steps[type(node)]


def implements(*operations: type[Node]) -> Callable[[type[Implementation]], type[Implementation]]:
    """Register an instance of the decorated class for operations whose anchor is of these types."""

    def register(implementation: type[Implementation]) -> type[Implementation]:
        for operation in operations:
            _implementations.setdefault(operation, []).append(implementation())
        return implementation

    return register


def implementations_of(node: Node) -> list[Implementation]:
    """Return what can run an operation with this anchor: its lowering function if it has one, and implementations."""
    entry = _find_entry(node)
    return [*([entry.implementation] if entry else []), *_implementations.get(type(node), ())]


def unsupported_reason(node: Node) -> str | None:
    """Return the reason why a node can neither be lowered nor run on the host, or None if it can."""
    if type(node) in _host_steps:
        return None
    entry = _find_entry(node)
    if entry is None:
        return f"no kernel for {node.type_info.version_id}::{node.type_info.name}"
    return entry.unsupported(node) if entry.unsupported else None


def _find_entry(node: Node) -> _Entry | None:
    conditional = (entry for matches, entry in _conditional_lowerings if matches(node))
    return _lowerings.get(type(node)) or next(conditional, None)
