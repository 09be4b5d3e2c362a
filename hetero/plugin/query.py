"""Queries: the operations of a model that a device supports, by their names in the original model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from hetero.core.types import Type
from hetero.graph import Constant, Model, Node, Parameter, Result, is_terminal, walk_nested
from hetero.graph.rt_info import original_names
from hetero.system.errors import UnsupportedOperationError

if TYPE_CHECKING:
    from hetero.plugin.prepared_model import PreparedModel

# Maximum number of operations to name in one message.
MOST_NAMED = 5


class QueryResult(dict[str, str]):
    """Supported operations: friendly name to device name. ``refused`` maps the other operations to the reasons.

    ``together``: the refused operations that the device runs with those around them, but not alone.
    ``with_readers``: the supported operations that the device leaves out, as their readers there need no result of
    them, but that it cannot run for readers on other devices.
    ``prepared`` is the model after the device's transformations: what was judged, and what ``Plugin.compile`` gets, or
    a part of it. None if the device must transform again, in ``compile_model``.
    """

    def __init__(self, supported: Mapping[str, str] | None = None) -> None:
        super().__init__(supported or {})
        self.refused: dict[str, str] = {}
        self.together: set[str] = set()
        self.with_readers: set[str] = set()
        self.prepared: PreparedModel | None = None

    def refuse_alone(self, names: Iterable[str]) -> None:
        """Refuse supported operations that the device runs only with those around them."""
        for name in names:
            del self[name]
            self.together.add(name)
            self.refused[name] = "the device runs it only together with the operations around it"


def get_supported_nodes(
    model: Model,
    transformed: Model,
    is_supported: Callable[[Node], str | None],
    device: str,
    has_strings: bool = True,
) -> QueryResult:
    """Ask ``is_supported`` about every node of the transformed model and map the answers to the original names.

    ``is_supported`` returns None for a supported node, else the reason why not. The result for a fused node holds for
    all operations that it was fused from. A node that the transformation removed is supported if one of its readers is,
    as are Parameters and Constants; a Result is supported if its source is. Without ``has_strings`` operations with
    strings are refused, even if the transformation computed them: another device may need the results.
    """
    result = QueryResult()
    accepted: set[str] = set()
    for node in transformed.get_ordered_ops():
        if is_terminal(node):
            continue
        reason = is_supported(node)
        for name in original_names(node):
            if reason is None:
                accepted.add(name)
            else:
                result.refused[name] = reason
    for node in () if has_strings else model.get_ordered_ops():
        if not is_terminal(node) and Type.string in {v.element_type for v in (*node.input_values(), *node.outputs())}:
            result.refused.setdefault(node.friendly_name, "the device has no strings")
    accepted -= result.refused.keys()
    _follow_readers(model, accepted, result)
    result.update((node.friendly_name, device) for node in model.get_ordered_ops() if node.friendly_name in accepted)
    return result


def query_fault(result: Any, model: Model, device: str) -> str | None:
    """Return what is wrong with a result of ``query_model``, None if it is valid."""
    if not isinstance(result, Mapping):
        return f"query_model returned {type(result).__name__}, not a mapping of operation names to '{device}'"
    names = {node.friendly_name for node in walk_nested(model.get_ordered_ops())}
    for name, where in result.items():
        if name not in names:
            return f"query_model names {name!r}, which is no operation of the model"
        if not isinstance(where, str) or where.partition(".")[0] != device:
            return f"query_model maps '{name}' to {where!r}, not to '{device}'"
    if not isinstance(refused := getattr(result, "refused", {}), dict):
        return f"query_model returned {type(refused).__name__} as its reasons, not a dict"
    return None


def unsupported(device: str, refused: Mapping[Node, str]) -> UnsupportedOperationError:
    """Return the error for operations that a device cannot run, which names the first few."""
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
