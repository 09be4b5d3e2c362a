"""What a translator gives for a node of a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from hetero.errors import FrontendError
from hetero.frontend.node_context import NodeContext
from hetero.graph import Node, Output, as_output

# What takes the place of a node's outputs: the node that makes all of them, or a value for each.
Translation = Node | Output | Sequence[Node | Output]


class NamedOutput(NamedTuple):
    """A value that takes the place of an output, and the output's name; "" for one that has none."""

    name: str
    port: Node | Output


# What the function of an extension may give: also the values of each name, or values in order with their names.
ConversionResult = Translation | Mapping[str, Translation] | Sequence[NamedOutput]


def as_outputs(translation: Translation) -> list[Output]:
    """The values that take the place of a node's outputs, in order."""
    if isinstance(translation, Node):
        return translation.outputs()
    return [translation] if isinstance(translation, Output) else [as_output(value) for value in translation]


def outputs_of(result: ConversionResult, node: NodeContext) -> list[Output]:
    """The values that take the place of the outputs of ``node``, in order.

    Raises FrontendError for what is no such value, and where names are not those of the node's outputs.
    """
    if isinstance(result, Mapping):
        return _by_names(result, node)
    parts = result if isinstance(result, (list, tuple)) else [result]
    if parts and all(_is_named(part) for part in parts):
        return _indexed_and_named(parts, node)
    if not all(isinstance(part, (Node, Output)) for part in parts):
        raise FrontendError(f"it returns {result!r}, not a node or outputs")
    return as_outputs(result)


def _by_names(result: Mapping[str, Translation], node: NodeContext) -> list[Output]:
    names = _names_of(node)
    for name in result:
        if name not in names:
            raise FrontendError(f"it returns an output '{name}', but the outputs are {', '.join(names)}")
    found: dict[int, Output] = {}
    for name in names:
        if name not in result:
            raise FrontendError(f"it returns no output '{name}'")
        values, places = outputs_of(result[name], node), node.get_output_places(name)
        if len(values) != len(places):
            raise FrontendError(f"it returns {len(values)} values of output '{name}', which has {len(places)}")
        found.update(zip(places, values))
    return [found[place] for place in sorted(found)]


def _indexed_and_named(result: Sequence[NamedOutput], node: NodeContext) -> list[Output]:
    names = _names_of(node) if any(name for name, _ in result) else []
    for place, (name, _) in enumerate(result):
        if name and (name not in names or place not in node.get_output_places(name)):
            raise FrontendError(f"it returns '{name}' as output {place}, but the outputs are {', '.join(names)}")
    return [as_output(port) for _, port in result]


def _is_named(part: Any) -> bool:
    return (
        isinstance(part, tuple) and len(part) == 2 and isinstance(part[0], str) and isinstance(part[1], (Node, Output))
    )


def _names_of(node: NodeContext) -> list[str]:
    names = node.get_output_names()
    if not names:
        raise FrontendError(f"it returns outputs by names, but those of {node.get_op_type()} have no names here")
    return names
