"""OperatorTable, the translators of a format: a Row for an operator that is one operation, functions for others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from hetero.frontend.translation.node_context import REQUIRED, DataType, NodeContext
from hetero.frontend.translation.translators import Translation, Translator
from hetero.graph import Output


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
