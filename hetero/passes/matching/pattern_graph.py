"""Patterns as graphs of nodes, like ``openvino.passes``: AnyInput, WrapType, Or, Optional, and operations themselves.

An operation in a pattern matches an operation of the same type whose inputs match; its attributes do not count::

    data = AnyInput()
    root = WrapType("opset13.Relu", ops.add(data, AnyInput()))
    matcher = Matcher(root, "ReluOfSum")

A Matcher builds the Pattern of such a graph, whose keys are its nodes.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from hetero.core.shape import Dimension
from hetero.core.types import Type
from hetero.graph import DiscreteTypeInfo, Node, Output, as_output
from hetero.ops.opsets import OPSETS, classes_in
from hetero.passes.matching.pattern import Anything, Either, Match, OpPattern, Pattern
from hetero.system.errors import ArgumentTypeError, GraphError


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

    def make_pattern(self, inputs: Sequence[Pattern]) -> Pattern:
        """Return the pattern of this node from those of its inputs."""
        raise NotImplementedError


class AnyInput(PatternNode):
    """Any value for which a predicate holds, by default every value."""

    def __init__(self, predicate: Any = None) -> None:
        super().__init__((), predicate)

    def make_pattern(self, inputs: Sequence[Pattern]) -> Pattern:
        return Anything(self, self._predicate)


class WrapType(PatternNode):
    """An operation of one of several types, such as "opset13.Relu", whose inputs match; without inputs any do.

    ``WrapType(types)``, ``WrapType(types, predicate)``, ``WrapType(types, inputs)`` or ``WrapType(types, inputs,
    predicate)``; ``inputs`` is a value, a node or a list of these.
    """

    def __init__(self, type_names: str | Sequence[str] = (), *arguments: Any, **keywords: Any) -> None:
        type_names = keywords.pop("type_name", type_names)
        self._types = [_type_of(name) for name in ([type_names] if isinstance(type_names, str) else type_names)]
        super().__init__(*_inputs_and_predicate(arguments, keywords))

    def make_pattern(self, inputs: Sequence[Pattern]) -> Pattern:
        return OpPattern(self._types, *inputs, key=self, condition=self._predicate, index=None)


class OptionalPattern(WrapType):
    """An operation of one of several types, or, if it is missing, the value that would be its first input.

    Without inputs there is no such value, and the pattern is a ``WrapType``, as in OpenVINO.
    """

    def make_pattern(self, inputs: Sequence[Pattern]) -> Pattern:
        return Either(super().make_pattern(inputs), *inputs[:1])


class Or(PatternNode):
    """A value that matches at least one of several patterns; the first that matches is used."""

    def __init__(self, inputs: Sequence[Output | Node]) -> None:
        super().__init__(inputs)

    def make_pattern(self, inputs: Sequence[Pattern]) -> Pattern:
        return Either(*inputs, key=self)


def _pattern_of(value: Output, built: dict[Output, Pattern]) -> Pattern:
    """Return the pattern of an output of a node. ``built``: the patterns of values that several nodes read."""
    if value not in built:
        node = value.node
        inputs = [_pattern_of(read, built) for read in node.input_values()]
        if isinstance(node, PatternNode):
            built[value] = node.make_pattern(inputs)
        else:
            built[value] = OpPattern([node.type_info], *inputs, key=node, index=value.index)
    return built[value]


class Matcher:
    """Matches a pattern, given by its last node or value, and keeps the last match."""

    def __init__(self, node: Node | Output | None = None, name: str = "", *, output: Output | None = None) -> None:
        pattern = output if node is None else node
        if not isinstance(pattern, (Node, Output)):
            raise ArgumentTypeError(f"a pattern is a node or an output, not {pattern!r}")
        self._pattern, self._name = _pattern_of(as_output(pattern), {}), name
        self._match = Match()
        self._root: Output | None = None

    def match(self, value: Output | Node) -> bool:
        """Return whether the pattern matches a value, or the first output of a node."""
        value = as_output(value)
        match = next(self._pattern.matches(value, Match()), None)
        self._match, self._root = match or Match(), value if match else None
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
        return cast(dict[Node, Output], dict(self._match.values))

    def get_symbols(self) -> dict[str, Any]:
        """Return the values of the symbols in predicates such as ``shape_matches``."""
        return dict(self._match.symbols)


def _type_of(name: str) -> DiscreteTypeInfo:
    """Return the type of operations from "opset13.Relu" or "opset13::Relu". Raises GraphError if there is none."""
    opset, _, kind = name.replace("::", ".").partition(".")
    number = opset.removeprefix("opset")
    if number.isdecimal() and int(number) in OPSETS and (cls := classes_in(int(number)).get(kind)) is not None:
        return cls.type_info
    raise GraphError(f"there is no type of operations {name!r}: write it like opset13.Relu")


def _inputs_and_predicate(arguments: Sequence[Any], keywords: dict[str, Any]) -> tuple[list[Any], Any]:
    """Sort the arguments after the types: a node, a value or a list of these, and a function or a Predicate."""
    inputs: list[Any] = []
    predicate: Any = None
    for argument in (*arguments, *(keywords.pop(key, None) for key in ("input", "inputs", "predicate"))):
        if isinstance(argument, (Node, Output)):
            inputs = [argument]
        elif isinstance(argument, (list, tuple)):
            inputs = list(argument)
        elif callable(argument):
            predicate = argument
        elif argument is not None:
            raise ArgumentTypeError(f"a pattern takes inputs and a predicate, not {argument!r}")
    if keywords:
        raise ArgumentTypeError(f"a pattern has no argument {', '.join(keywords)}")
    return inputs, predicate


def consumers_count(count: int) -> Predicate:
    """Return a condition that as many inputs read the value."""
    return Predicate(lambda value: len(value.get_target_inputs()) == count)


def has_static_dim(axis: int) -> Predicate:
    """Return a condition that the length of an axis is known."""
    return has_static_dims([axis])


def has_static_dims(axes: Sequence[int]) -> Predicate:
    """Return a condition that the lengths of all these axes are known."""

    def check(value: Output) -> bool:
        shape = value.partial_shape
        return shape.has_rank and all(-len(shape) <= a < len(shape) and shape[a].is_static for a in axes)

    return Predicate(check)


def has_static_shape() -> Predicate:
    return Predicate(lambda value: value.partial_shape.is_static)


def has_static_rank() -> Predicate:
    return Predicate(lambda value: value.partial_shape.has_rank)


def rank_equals(rank: Dimension | int) -> Predicate:
    """Return a condition that the number of dimensions is in a Dimension, or is this number."""
    return Predicate(lambda value: value.partial_shape.rank == Dimension.of(rank))


def type_matches(element_type: Type) -> Predicate:
    return type_matches_any([element_type])


def type_matches_any(element_types: Sequence[Type]) -> Predicate:
    return Predicate(lambda value: value.element_type in list(element_types))


def attrs_match(attributes: Mapping[str, Any]) -> Predicate:
    """Return a condition that attributes of the operation, by their OpenVINO names, have these values."""

    def check(value: Output) -> bool:
        own = value.node.get_attributes()
        return all(key in own and own[key] == required for key, required in attributes.items())

    return Predicate(check)


def shape_matches(notation: str) -> Predicate:
    """Return a condition on the shape, such as "[1, C, ?, 8]": numbers, any lengths, and symbols.

    The first length that a symbol meets is its value; the others must equal it. "..." stands for any number of
    dimensions.
    """
    parts = [part.strip() for part in notation.strip().removeprefix("[").removesuffix("]").split(",") if part.strip()]

    def check(symbols: dict[str, Any], value: Output) -> bool:
        if not value.partial_shape.has_rank:
            return False
        lengths = list(value.partial_shape)
        if "..." in parts:
            at = parts.index("...")
            after = len(parts) - at - 1
            if len(lengths) < at + after:
                return False
            pairs = [*zip(parts[:at], lengths), *zip(parts[at + 1 :], lengths[len(lengths) - after :])]
        elif len(parts) != len(lengths):
            return False
        else:
            pairs = list(zip(parts, lengths))
        return all(_fits(part, length, symbols) for part, length in pairs)

    return Predicate(check)


def _fits(part: str, length: Dimension, symbols: dict[str, Any]) -> bool:
    if part == "?":
        return True
    if not length.is_static:
        return False
    number = length.get_length()
    return number == int(part) if part.lstrip("-").isdecimal() else symbols.setdefault(part, number) == number
