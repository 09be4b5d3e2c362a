"""Which operations of a model a device supports, told under the names that the user knows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hetero.errors import UnsupportedOperationError
from hetero.graph import Constant, Model, Node, Parameter, Result, walk_nested
from hetero.graph.runtime_info import original_names

# Operations that one message names; a model may have hundreds that a device cannot run.
MOST_NAMED = 5


class QueryResult(dict[str, str]):
    """Friendly name of each supported operation to the device's name; ``refused`` has the others with the reason."""

    def __init__(self, supported: Mapping[str, str] | None = None) -> None:
        super().__init__(supported or {})
        self.refused: dict[str, str] = {}


def get_supported_nodes(
    model: Model,
    transform: Callable[[Model], Model],
    is_supported: Callable[[Node], str | None],
    device: str,
) -> QueryResult:
    """Ask about every node of the transformed model, and answer under the names of the original one.

    ``is_supported`` gives None for a node that the device can run, else the reason why it cannot. A fused
    node answers for all that it came from. A node that the transformation made disappear goes with
    its readers, and so do Parameters and Constants; a Result goes with its source.
    """
    result = QueryResult()
    accepted: set[str] = set()
    for node in transform(model.clone()).get_ordered_ops():
        if is_terminal(node):
            continue
        reason = is_supported(node)
        for name in original_names(node):
            if reason is None:
                accepted.add(name)
            else:
                result.refused[name] = reason
    accepted -= result.refused.keys()
    _follow_readers(model, accepted, result)
    result.update((node.friendly_name, device) for node in model.get_ordered_ops() if node.friendly_name in accepted)
    return result


def is_terminal(node: Node) -> bool:
    """Return whether a node is one that every device has: a Parameter, a Constant or a Result."""
    return isinstance(node, (Parameter, Constant, Result))


def query_fault(found: Any, model: Model, device: str) -> str | None:
    """Return what is wrong with the answer of ``query_model`` of a kind of device; None if it can be used."""
    if not isinstance(found, Mapping):
        return f"query_model returned {type(found).__name__}, not a mapping of operation names to '{device}'"
    names = {node.friendly_name for node in walk_nested(model.get_ordered_ops())}
    for name, where in found.items():
        if name not in names:
            return f"query_model names {name!r}, which is no operation of the model"
        if not isinstance(where, str) or where.partition(".")[0] != device:
            return f"query_model maps '{name}' to {where!r}, not to '{device}'"
    if not isinstance(refused := getattr(found, "refused", {}), dict):
        return f"query_model gives {type(refused).__name__} as the reasons for what is refused, not a dict"
    return None


def unsupported(device: str, refused: Mapping[Node, str]) -> UnsupportedOperationError:
    """The error that a device raises when it is given operations that it cannot run; it names the first few."""
    shown = [f"{n.type_info.name} '{n.friendly_name}' ({reason})" for n, reason in list(refused.items())[:MOST_NAMED]]
    more = f" and {len(refused) - MOST_NAMED} more" if len(refused) > MOST_NAMED else ""
    return UnsupportedOperationError(f"{device} cannot run {', '.join(shown)}{more}")


def _follow_readers(model: Model, accepted: set[str], result: QueryResult) -> None:
    order = model.get_ordered_ops()
    for node in reversed(order):
        name = node.friendly_name
        if isinstance(node, Result) or name in accepted or name in result.refused:
            continue
        readers = [t.node for output in node.outputs() for t in output.get_target_inputs()]
        if not readers or any(r.friendly_name in accepted or isinstance(r, Result) for r in readers):
            accepted.add(name)
        elif not isinstance(node, (Parameter, Constant)):
            result.refused[name] = "only refused operations read it"
    accepted.update(r.friendly_name for r in model.results if r.input_value(0).node.friendly_name in accepted)
