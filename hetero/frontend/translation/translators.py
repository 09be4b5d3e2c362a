"""Translators, which convert one node of a model file, the values that they return, and OperatorTable, which has them.

A Row translates an operator that is one operation, functions translate others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from hetero.frontend.translation.node_context import REQUIRED, DataType, NodeContext
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


class Attr(NamedTuple):
    """An attribute of an operator: its name in the format, its default value, and the type that it is converted to.

    ``values``: the operation's values by those of the format, for example ``{"CRD": "depth_first"}``; others stay.
    """

    name: str
    default: Any = REQUIRED
    dtype: DataType | None = None
    values: Mapping[Any, Any] = MappingProxyType({})

    def read(self, node: NodeContext) -> Any:
        """Return the attribute of a node as the operation takes it."""
        value = node.get_attribute(self.name, self.default, self.dtype)
        return self.values.get(value, value) if self.values else value


class OptionalInput(NamedTuple):
    """An input by index or name, which may be omitted; the operation then takes None."""

    key: int | str


class Row:
    """The translation of an operator that is one operation: ``Row(ops.Elu, 0, alpha=Attr("alpha", 1.0))``.

    ``operation``: called with the values of ``inputs``, then with the attributes as keywords; one of our operations
    that takes a list of inputs or a dict of attributes gets that. ``inputs``: the indices or names of the inputs that
    it reads, or OptionalInput, by default all. ``attributes``: an Attr of the operator, or a value that is the same for
    all nodes. ``since``: the first version of the operator that the row holds for. ``domain``: the operator's domain,
    in formats that have domains.
    """

    def __init__(
        self,
        operation: Callable[..., Translation],
        *inputs: int | str | OptionalInput,
        since: int = 1,
        domain: str = "",
        **attributes: Any,
    ) -> None:
        self.operation, self.inputs, self.attributes = operation, inputs, attributes
        self.since, self.domain = since, domain

    def __call__(self, node: NodeContext) -> Translation:
        read = [
            node.get_optional_input(*key) if isinstance(key, OptionalInput) else node.get_input(key)
            for key in self.inputs
        ]
        return self.make(node, read or node.get_inputs())

    def make(self, node: NodeContext, inputs: Sequence[Output | None]) -> Translation:
        """Return the operation of these inputs, with the attributes of the node."""
        attributes = {
            key: value.read(node) if isinstance(value, Attr) else value for key, value in self.attributes.items()
        }
        names = getattr(self.operation, "input_names", ())
        arguments: Sequence[Any] = [inputs] if names and names[0].startswith("*") else inputs
        if getattr(self.operation, "attributes_in", ""):
            return self.operation(*arguments, attributes)
        return self.operation(*arguments, **attributes)


class OperatorTable:
    """The translators of one format, by domain, operator type and version.

    Formats without domains use the domain "", formats without versions the version 1. ``by_operator``: the translators
    by version, for each (domain, operator type).
    """

    def __init__(self) -> None:
        self.by_operator: dict[tuple[str, str], dict[int, Translator]] = {}

    def register(self, *op_types: str, since: int = 1, domain: str = "") -> Callable[[Translator], Translator]:
        """Return a decorator that registers a translator of these operators from version ``since`` on."""

        def decorate(function: Translator) -> Translator:
            for op_type in op_types:
                self.by_operator.setdefault((domain, op_type), {})[since] = function
            return function

        return decorate

    def register_rows(
        self,
        rows: Mapping[str, Row | Translator | Sequence[Row]],
        convention: Callable[[Row], Translator] = lambda operator: operator,
    ) -> None:
        """Register rows by operator type; several if an operator changed between versions, or any translator.

        ``convention``: returns the translator of a row, if the inputs of all these operators are read in another way,
        for example converted to one element type.
        """
        for op_type, versions in rows.items():
            for operator in versions if isinstance(versions, Sequence) else [versions]:
                if isinstance(operator, Row):
                    self.register(op_type, since=operator.since, domain=operator.domain)(convention(operator))
                else:
                    self.register(op_type)(operator)

    def find(self, op_type: str, version: int = 1, domain: str = "") -> Translator | None:
        """Return the operator's newest translator that is not newer than ``version``, or None."""
        by_version = self.by_operator.get((domain, op_type), {})
        return by_version.get(max((since for since in by_version if since <= version), default=-1))
