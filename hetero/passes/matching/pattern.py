"""Patterns of operations, matched from the last operation backwards.

A pattern is built from other patterns::

    x = Anything("x")
    root = OpPattern(ops.Multiply, x, OpPattern(ops.Sigmoid, x))   # the same x in both places
    fuse_matches(model, root, lambda match: ops.Swish(match["x"]))
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from hetero import ops
from hetero.graph import DiscreteTypeInfo, Model, Node, Output, constant_array, is_constant
from hetero.passes.matching.rewriting import replace as replace_nodes

_COMMUTATIVE = (
    ops.Add, ops.Multiply, ops.Maximum, ops.Minimum, ops.Equal, ops.NotEqual, ops.LogicalAnd, ops.LogicalOr,
    ops.LogicalXor,
)  # fmt: skip
# Exporters round numbers: 1.4142 for the square root of two.
_TOLERANCE = 1e-3

# A condition on a value, which may read and set symbols: values that all conditions of a match share.
Condition = Callable[[dict[str, Any], Output], bool]


@dataclass(frozen=True)
class Match:
    """The values that patterns with a key matched, the matched nodes, the root first, and the values of symbols."""

    values: dict[Hashable, Output] = field(default_factory=dict)
    nodes: tuple[Node, ...] = ()
    symbols: dict[str, Any] = field(default_factory=dict)

    def __getitem__(self, key: Hashable) -> Output:
        return self.values[key]

    def with_value(self, key: Hashable, value: Output) -> Match:
        """Return the match with the value that the pattern of a key matched; None is no key."""
        return self if key is None else replace(self, values={**self.values, key: value})

    def with_condition(self, condition: Condition | None, value: Output) -> Match | None:
        """Return the match with the symbols that a condition sets, or None if the condition refuses the value."""
        if condition is None:
            return self
        symbols = dict(self.symbols)
        return replace(self, symbols=symbols) if condition(symbols, value) else None


class Pattern:
    """The base class of patterns."""

    def matches(self, value: Output, so_far: Match) -> Iterator[Match]:
        """Yield each way in which the value matches, as an extension of the match so far."""
        raise NotImplementedError


class Anything(Pattern):
    """Any value for which a condition holds. Patterns of the same key match only the same value."""

    def __init__(self, key: Hashable = None, condition: Condition | None = None) -> None:
        self.key, self.condition = key, condition

    def matches(self, value: Output, so_far: Match) -> Iterator[Match]:
        if so_far.values.get(self.key, value) is value and (match := so_far.with_condition(self.condition, value)):
            yield match.with_value(self.key, value)


class AnyConstant(Anything):
    """The value of any Constant."""

    def __init__(self, key: Hashable) -> None:
        super().__init__(key, lambda symbols, value: is_constant(value))


class Number(Anything):
    """A Constant of one element that is about equal to a number."""

    def __init__(self, number: float) -> None:
        super().__init__(None, lambda symbols, value: math.isclose(_number(value), number, rel_tol=_TOLERANCE))


class OpPattern(Pattern):
    """An output of an operation whose inputs match, in any order if the operation commutes.

    ``types``: an operation, or the types of several. ``inputs``: their patterns; without any, all inputs match, unless
    the operation has none. ``key``: patterns of the same key match only the same operation. ``index``: the output, by
    default the first; None for any. ``attributes``: the values that attributes of the operation must have.
    """

    def __init__(
        self,
        types: type[Node] | Collection[DiscreteTypeInfo],
        *inputs: Pattern,
        key: Hashable = None,
        condition: Condition | None = None,
        index: int | None = 0,
        **attributes: object,
    ) -> None:
        self.types = [types.type_info] if isinstance(types, type) else types
        self.inputs, self.key, self.condition = inputs, key, condition
        self.index, self.attributes = index, attributes

    def matches(self, value: Output, so_far: Match) -> Iterator[Match]:
        node, known = value.node, so_far.values.get(self.key)
        if node.type_info not in self.types or self.index not in (None, value.index):
            return
        if known is not None:
            if known.node is node:
                yield so_far
            return
        if any(getattr(node, name) != required for name, required in self.attributes.items()):
            return
        match = so_far.with_condition(self.condition, value)
        if match is not None:
            match = replace(match.with_value(self.key, value), nodes=(*match.nodes, node))
            yield from self._match_inputs(node, match)

    def _match_inputs(self, node: Node, so_far: Match) -> Iterator[Match]:
        values = node.input_values()
        if not self.inputs:
            yield so_far
        elif len(values) == len(self.inputs):
            yield from _match_all(self.inputs, values, so_far)
            if isinstance(node, _COMMUTATIVE):
                yield from _match_all(self.inputs, values[::-1], so_far)


class Either(Pattern):
    """A value that matches at least one of several patterns."""

    def __init__(self, *patterns: Pattern, key: Hashable = None) -> None:
        self.patterns, self.key = patterns, key

    def matches(self, value: Output, so_far: Match) -> Iterator[Match]:
        for pattern in self.patterns:
            for match in pattern.matches(value, so_far):
                yield match.with_value(self.key, value)


def _match_all(patterns: Sequence[Pattern], values: Sequence[Output], so_far: Match) -> Iterator[Match]:
    if not patterns:
        yield so_far
        return
    for match in patterns[0].matches(values[0], so_far):
        yield from _match_all(patterns[1:], values[1:], match)


def product_of(first: Pattern, second: Pattern, third: Pattern) -> Pattern:
    """Return a pattern of the product of three values, in any order of multiplication."""
    pairs = ((first, second, third), (first, third, second), (second, third, first))
    return Either(*(OpPattern(ops.Multiply, OpPattern(ops.Multiply, a, b), c) for a, b, c in pairs))


def fuse_matches(model: Model, pattern: Pattern, make: Callable[[Match], Node | None]) -> bool:
    """Replace the operations of each match by ``make(match)``, and return whether any was replaced.

    No other node reads the inner values of a match. Its operations stay if ``make`` returns None.
    """
    changed = False
    for node in model.get_ordered_ops():
        match = _find(pattern, node)
        if match is not None and (replacement := make(match)) is not None:
            replace_nodes(match.nodes[::-1], replacement)
            changed = True
    return changed


def _find(pattern: Pattern, root: Node) -> Match | None:
    """Return the first match of a node with one output whose inner values no other node reads, or None."""
    if root.get_output_size() != 1:
        return None
    for match in pattern.matches(root.output(0), Match()):
        matched = set(match.nodes)
        inner = [output for node in matched - {root} for output in node.outputs()]
        if all(target.node in matched for output in inner for target in output.get_target_inputs()):
            return match
    return None


def single_number(value: Output) -> float | None:
    """Return the number of a Constant of one element, None for any other value."""
    array = constant_array(value)
    if array is None or array.size != 1 or not value.element_type.is_real():
        return None
    return float(array.astype(np.float64).reshape(()))


def _number(value: Output) -> float:
    number = single_number(value)
    return math.nan if number is None else number
