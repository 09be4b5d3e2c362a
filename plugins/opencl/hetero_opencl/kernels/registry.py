"""Which function lowers which operation, and which nodes it cannot lower."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from hetero.graph import Node

if TYPE_CHECKING:
    from hetero.tensor import Tensor
    from hetero_opencl.host_steps import HostStep
    from hetero_opencl.lowering import Lowering

Lower = Callable[["Lowering", Node], None]
Run = Callable[["HostStep", list["Tensor"]], list["Tensor"]]
# Why a node cannot be lowered, None where it can; shapes may be partly unknown.
Refuse = Callable[[Node], str | None]

_lowerings: dict[type[Node], tuple[Lower, Refuse | None]] = {}
# Of operations by what they bring, whatever their class.
_lowerings_by_trait: list[tuple[Callable[[Node], bool], Lower, Refuse]] = []
_host_steps: dict[type[Node], Run] = {}


def lowers(*operations: type[Node], unless: Refuse | None = None) -> Callable[[Lower], Lower]:
    """Decorator: the function ``f(lowering, node)`` makes the launches of these operations, unless they are refused."""

    def register(function: Lower) -> Lower:
        for operation in operations:
            _lowerings[operation] = (function, unless)
        return function

    return register


def lowers_if(bring: Callable[[Node], bool], unless: Refuse) -> Callable[[Lower], Lower]:
    """Decorator: the same for operations of any class that bring something for it, and are known by no class."""

    def register(function: Lower) -> Lower:
        _lowerings_by_trait.append((bring, function, unless))
        return function

    return register


def custom_unsupported_reason(node: Node) -> str | None:
    """Why a node's own class refuses; None where it does not."""
    refuse = getattr(node, "opencl_unsupported_reason", None)
    return refuse() if refuse else None


def runs_on_host(*operations: type[Node]) -> Callable[[Run], Run]:
    """Decorator: the function ``f(step, tensors)`` does what these operations do, from tensor to tensor.

    It may run bodies, and copy within the device's memory, but computes nothing itself.
    """

    def register(function: Run) -> Run:
        _host_steps.update(dict.fromkeys(operations, function))
        return function

    return register


def find_host_step(node: Node) -> Run | None:
    """The function by which the host runs a node; None for one that is lowered."""
    return _host_steps.get(type(node))


def find_lowering(node: Node) -> Lower | None:
    """The function that lowers a node."""
    entry = _entry_of(node)
    return entry[0] if entry else None


def unsupported_reason(node: Node) -> str | None:
    """Why a node can be neither lowered nor run by the host; None where it can."""
    if type(node) in _host_steps:
        return None
    entry = _entry_of(node)
    if entry is None:
        return f"no kernel for {node.type_info.version_id}::{node.type_info.name}"
    return entry[1](node) if entry[1] else None


def _entry_of(node: Node) -> tuple[Lower, Refuse | None] | None:
    brought = ((lower, unless) for bring, lower, unless in _lowerings_by_trait if bring(node))
    return _lowerings.get(type(node)) or next(brought, None)
