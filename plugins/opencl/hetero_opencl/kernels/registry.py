"""Registry of lowering functions and host steps, keyed by operation class."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from hetero.graph import Node

if TYPE_CHECKING:
    from hetero.tensor import Tensor
    from hetero_opencl.host_steps import HostStep
    from hetero_opencl.lowering import Lowering

# The node is of a class that the function is registered for.
Lower = Callable[["Lowering", Any], None]
Run = Callable[["HostStep", list["Tensor"]], list["Tensor"]]
# Returns the reason why a node cannot be lowered, or None if it can. Shapes may be partly unknown.
Unsupported = Callable[[Any], str | None]

_lowerings: dict[type[Node], tuple[Lower, Unsupported | None]] = {}
# Lowering functions selected by a predicate instead of the class: (predicate, function, unsupported).
_conditional_lowerings: list[tuple[Callable[[Node], bool], Lower, Unsupported]] = []
_host_steps: dict[type[Node], Run] = {}


def lowers(*operations: type[Node], unsupported: Unsupported | None = None) -> Callable[[Lower], Lower]:
    """Register the decorated ``f(lowering, node)``, which adds the launches of a node, for these operations.

    ``unsupported`` returns the reason why a node is not supported, or None.
    """

    def register(function: Lower) -> Lower:
        for operation in operations:
            _lowerings[operation] = (function, unsupported)
        return function

    return register


def lowers_if(matches: Callable[[Node], bool], unsupported: Unsupported) -> Callable[[Lower], Lower]:
    """Register the decorated function for each node that ``matches`` and whose class is not registered."""

    def register(function: Lower) -> Lower:
        _conditional_lowerings.append((matches, function, unsupported))
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


def find_lowering(node: Node) -> Lower | None:
    """Return the function that lowers a node, or None."""
    entry = _find_entry(node)
    return entry[0] if entry else None


def unsupported_reason(node: Node) -> str | None:
    """Return the reason why a node can neither be lowered nor run on the host, or None if it can."""
    if type(node) in _host_steps:
        return None
    entry = _find_entry(node)
    if entry is None:
        return f"no kernel for {node.type_info.version_id}::{node.type_info.name}"
    return entry[1](node) if entry[1] else None


def _find_entry(node: Node) -> tuple[Lower, Unsupported | None] | None:
    conditional = ((lower, unsupported) for matches, lower, unsupported in _conditional_lowerings if matches(node))
    return _lowerings.get(type(node)) or next(conditional, None)
