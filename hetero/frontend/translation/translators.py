"""Translators, which convert one node of a model file, and the values that they return."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from hetero.frontend.translation.node_context import NodeContext
from hetero.graph import Node, Output, as_output
from hetero.system.errors import FrontendError

# The result of a translator: the node that makes all outputs of the file's node, or one value for each output.
Translation = Node | Output | Sequence[Node | Output]

# A function of the format's own NodeContext. It returns a Translation, or what else the format takes.
Translator = Callable[[Any], Any]


class NamedOutput(NamedTuple):
    """A value that replaces an output, with the output's name; "" for an output without a name."""

    name: str
    port: Node | Output


# The result of an extension's converter: a Translation, values by output name, or named values in order.
ConversionResult = Translation | Mapping[str, Translation] | Sequence[NamedOutput]


def as_outputs(translation: Translation) -> list[Output]:
    """Return the values of a translation as a list, one for each output of the translated node."""
    if isinstance(translation, Node):
        return translation.outputs()
    return [translation] if isinstance(translation, Output) else [as_output(value) for value in translation]


def outputs_of(result: ConversionResult, node: NodeContext) -> list[Output]:
    """Return the values of a converter's result, in the order of the outputs of ``node``.

    Raises FrontendError if the result is not a ConversionResult, or has names that are not those of the node's outputs.
    """
    if isinstance(result, Mapping):
        return _outputs_by_name(result, node)
    if isinstance(result, (Node, Output)):
        return as_outputs(result)
    parts: Sequence[Any] = result if isinstance(result, (list, tuple)) else [result]
    if parts and all(_is_named(part) for part in parts):
        return _named_outputs_in_order(parts, node)
    if not all(isinstance(part, (Node, Output)) for part in parts):
        raise FrontendError(f"it returns {result!r}, not a node or outputs")
    return as_outputs(parts)


def _outputs_by_name(result: Mapping[str, Translation], node: NodeContext) -> list[Output]:
    names = _output_names(node)
    for name in result:
        if name not in names:
            raise FrontendError(f"it returns an output '{name}', but the outputs are {', '.join(names)}")
    by_index: dict[int, Output] = {}
    for name in names:
        if name not in result:
            raise FrontendError(f"it returns no output '{name}'")
        values, indices = outputs_of(result[name], node), node.get_output_indices(name)
        if len(values) != len(indices):
            raise FrontendError(f"it returns {len(values)} values of output '{name}', which has {len(indices)}")
        by_index.update(zip(indices, values))
    return [by_index[index] for index in sorted(by_index)]


def _named_outputs_in_order(result: Sequence[NamedOutput], node: NodeContext) -> list[Output]:
    names = _output_names(node) if any(name for name, _ in result) else []
    for index, (name, _) in enumerate(result):
        if name and (name not in names or index not in node.get_output_indices(name)):
            raise FrontendError(f"it returns '{name}' as output {index}, but the outputs are {', '.join(names)}")
    return [as_output(port) for _, port in result]


def _is_named(part: Any) -> bool:
    return (
        isinstance(part, tuple) and len(part) == 2 and isinstance(part[0], str) and isinstance(part[1], (Node, Output))
    )


def _output_names(node: NodeContext) -> list[str]:
    names = node.get_output_names()
    if not names:
        raise FrontendError(f"it returns outputs by name, but the outputs of {node.get_op_type()} have no names")
    return names
