"""Patterns as graphs of nodes, like ``openvino.passes``: AnyInput, WrapType, Or, Optional, and operations themselves.

An operation in a pattern matches an operation of the same type whose inputs match; its attributes do not count::

    data = AnyInput()
    root = WrapType("opset13.Relu", ops.add(data, AnyInput()))
    matcher = Matcher(root, "ReluOfSum")
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from hetero import ops
from hetero.graph import Node, Output
from hetero.ops.opsets import OPSETS, classes_in
from hetero.system.errors import ArgumentTypeError, GraphError

_COMMUTATIVE = (
    ops.Add, ops.Multiply, ops.Maximum, ops.Minimum, ops.Equal, ops.NotEqual, ops.LogicalAnd, ops.LogicalOr,
    ops.LogicalXor,
)  # fmt: skip


@dataclass(frozen=True)
class PatternMatch:
    """The values that nodes of a pattern matched, in order, and the values of symbols."""

    values: dict[Node, Output] = field(default_factory=dict)
    symbols: dict[str, Any] = field(default_factory=dict)

    def with_value(self, pattern: Node, value: Output) -> PatternMatch:
        return replace(self, values={**self.values, pattern: value})


class Predicate:
    """A condition on a value, also on the values of symbols: ``function(value)`` or ``function(symbols, value)``."""

    def __init__(self, predicate: Callable[..., bool] | Predicate | None = None) -> None:
        if isinstance(predicate, Predicate):
            predicate = predicate._function
        self._function: Callable[..., bool] = predicate or (lambda value: True)
        self._takes_symbols = len(inspect.signature(self._function).parameters) == 2

    def __call__(self, symbols: dict[str, Any], value: Output) -> bool:
        return bool(self._function(symbols, value) if self._takes_symbols else self._function(value))


class PatternNode(Node):
    """A node that exists in patterns only."""

    def __init__(self, inputs: Sequence[Output | Node] = (), predicate: Any = None) -> None:
        super().__init__(inputs)
        self._predicate = Predicate(predicate)

    def validate_and_infer_types(self) -> None:
        """Leave the type and the shape of the output unknown."""

    def matches(self, value: Output, so_far: PatternMatch) -> Iterator[PatternMatch]:
        """Yield each way in which a value matches, as an extension of the match so far."""
        raise NotImplementedError

    def _admits(self, value: Output, so_far: PatternMatch) -> PatternMatch | None:
        """Return the match with the value, or None if the predicate refuses it or the node has matched another."""
        if so_far.values.get(self, value) is not value:
            return None
        symbols = dict(so_far.symbols)
        if not self._predicate(symbols, value):
            return None
        return PatternMatch({**so_far.values, self: value}, symbols)


class AnyInput(PatternNode):
    """Any value for which a predicate holds, by default every value."""

    def __init__(self, predicate: Any = None) -> None:
        super().__init__((), predicate)

    def matches(self, value: Output, so_far: PatternMatch) -> Iterator[PatternMatch]:
        if (match := self._admits(value, so_far)) is not None:
            yield match


class WrapType(PatternNode):
    """An operation of one of several types, such as "opset13.Relu", whose inputs match; without inputs any do.

    ``WrapType(types)``, ``WrapType(types, predicate)``, ``WrapType(types, inputs)`` or ``WrapType(types, inputs,
    predicate)``; ``inputs`` is a value, a node or a list of these.
    """

    def __init__(self, type_names: str | Sequence[str] = (), *arguments: Any, **keywords: Any) -> None:
        type_names = keywords.pop("type_name", type_names)
        self._types = [_type_of(name) for name in ([type_names] if isinstance(type_names, str) else type_names)]
        super().__init__(*_inputs_and_predicate(type(self).__name__, arguments, keywords))

    def matches(self, value: Output, so_far: PatternMatch) -> Iterator[PatternMatch]:
        if value.node.type_info in self._types and (match := self._admits(value, so_far)) is not None:
            yield from _match_inputs(self.input_values(), value.node, match) if self.get_input_size() else [match]


class Optional(WrapType):
    """An operation of one of several types, or, if it is missing, the value that would be its first input."""

    def matches(self, value: Output, so_far: PatternMatch) -> Iterator[PatternMatch]:
        yield from super().matches(value, so_far)
        if self.get_input_size():
            yield from match_value(self.input_value(0), value, so_far)
        else:
            yield so_far


class Or(PatternNode):
    """A value that matches at least one of several patterns; the first that matches is used."""

    def __init__(self, inputs: Sequence[Output | Node]) -> None:
        super().__init__(inputs)

    def matches(self, value: Output, so_far: PatternMatch) -> Iterator[PatternMatch]:
        for pattern in self.input_values():
            for match in match_value(pattern, value, so_far):
                yield match.with_value(self, value)


class Matcher:
    """Matches a pattern, given by its last node or value, and keeps the last match."""

    def __init__(self, node: Node | Output | None = None, name: str = "", *, output: Output | None = None) -> None:
        pattern = output if node is None else node
        if not isinstance(pattern, (Node, Output)):
            raise ArgumentTypeError(f"a pattern is a node or an output, not {pattern!r}")
        self._pattern, self._name = pattern.output(0) if isinstance(pattern, Node) else pattern, name
        self._match = PatternMatch()
        self._root: Output | None = None

    def match(self, value: Output | Node) -> bool:
        """Return whether the pattern matches a value, or the first output of a node."""
        value = value.output(0) if isinstance(value, Node) else value
        match = next(match_value(self._pattern, value, PatternMatch()), None)
        self._match, self._root = match or PatternMatch(), value if match else None
        return match is not None

    def get_name(self) -> str:
        return self._name

    def get_match_value(self) -> Output:
        """Return the value that the whole pattern matched. Raises GraphError without a match."""
        if self._root is None:
            raise GraphError(f"pattern '{self._name}' has matched nothing")
        return self._root

    def get_match_root(self) -> Node:
        return self.get_match_value().node

    def get_match_values(self) -> list[Output]:
        return list(self._match.values.values())

    def get_match_nodes(self) -> list[Node]:
        return list(dict.fromkeys(value.node for value in self.get_match_values()))

    def get_pattern_value_map(self) -> dict[Node, Output]:
        """Return the value that each node of the pattern matched."""
        return dict(self._match.values)

    def get_symbols(self) -> dict[str, Any]:
        """Return the values of the symbols in predicates such as ``shape_matches``."""
        return dict(self._match.symbols)


def match_value(pattern: Output, value: Output, so_far: PatternMatch) -> Iterator[PatternMatch]:
    """Yield each way in which a value matches the output of a node of a pattern."""
    node = pattern.node
    if isinstance(node, PatternNode):
        yield from node.matches(value, so_far)
    elif value.node.type_info == node.type_info and value.index == pattern.index:
        known = so_far.values.get(node)
        if known is None:
            yield from _match_inputs(node.input_values(), value.node, so_far.with_value(node, value))
        elif known.node is value.node:
            yield so_far


def _match_inputs(patterns: Sequence[Output], node: Node, so_far: PatternMatch) -> Iterator[PatternMatch]:
    values = node.input_values()
    if len(patterns) != len(values):
        return
    yield from _match_all(patterns, values, so_far)
    if isinstance(node, _COMMUTATIVE):
        yield from _match_all(patterns, values[::-1], so_far)


def _match_all(patterns: Sequence[Output], values: Sequence[Output], so_far: PatternMatch) -> Iterator[PatternMatch]:
    if not patterns:
        yield so_far
        return
    for match in match_value(patterns[0], values[0], so_far):
        yield from _match_all(patterns[1:], values[1:], match)


def _type_of(name: str) -> Any:
    """Return the type of operations from "opset13.Relu". Raises GraphError if there is none."""
    opset, _, kind = name.partition(".")
    number = opset.removeprefix("opset")
    if number.isdecimal() and int(number) in OPSETS and (found := classes_in(int(number)).get(kind)) is not None:
        return found.type_info
    raise GraphError(f"there is no type of operations {name!r}: write it like opset13.Relu")


def _inputs_and_predicate(owner: str, arguments: Sequence[Any], keywords: dict[str, Any]) -> tuple[list[Any], Any]:
    """Sort the arguments after the types: a node, a value or a list of these, and a function or a Predicate."""
    inputs: list[Any] = []
    predicate: Any = None
    for one in (*arguments, *(keywords.pop(key, None) for key in ("input", "inputs", "predicate"))):
        if isinstance(one, (Node, Output)):
            inputs = [one]
        elif isinstance(one, (list, tuple)):
            inputs = list(one)
        elif callable(one):
            predicate = one
        elif one is not None:
            raise ArgumentTypeError(f"{owner} takes inputs and a predicate, not {one!r}")
    if keywords:
        raise ArgumentTypeError(f"{owner} has no argument {', '.join(keywords)}")
    return inputs, predicate
