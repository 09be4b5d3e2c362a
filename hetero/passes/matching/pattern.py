"""Patterns of operations, matched from the last operation backwards.

A pattern is built from other patterns::

    x = Anything("x")
    root = Operation(ops.Multiply, x, Operation(ops.Sigmoid, x))   # the same x in both places
    fuse_matches(model, root, lambda match: ops.Swish(match["x"]))
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from hetero import ops
from hetero.graph import Model, Node, Output, constant_array, is_constant
from hetero.passes.matching.rewriting import replace

_COMMUTATIVE = (ops.Add, ops.Multiply, ops.Maximum, ops.Minimum)
# Exporters round numbers: 1.4142 for the square root of two.
_TOLERANCE = 1e-3


@dataclass(frozen=True)
class Match:
    """The values that named patterns matched, and the matched nodes, the root first."""

    values: dict[str, Output]
    nodes: tuple[Node, ...]

    def __getitem__(self, name: str) -> Output:
        return self.values[name]


class Pattern:
    """The base class of patterns."""

    def matches(self, value: Output, so_far: Match) -> Iterator[Match]:
        """Yield each way in which the value matches, as an extension of the match so far."""
        raise NotImplementedError


class Anything(Pattern):
    """Any value. Patterns of the same name match only the same value."""

    def __init__(self, name: str) -> None:
        self.name = name

    def matches(self, value: Output, so_far: Match) -> Iterator[Match]:
        known = so_far.values.get(self.name)
        if known is None:
            yield Match({**so_far.values, self.name: value}, so_far.nodes)
        elif known is value:
            yield so_far


class AnyConstant(Anything):
    """The value of any Constant."""

    def matches(self, value: Output, so_far: Match) -> Iterator[Match]:
        if is_constant(value):
            yield from super().matches(value, so_far)


class Number(Pattern):
    """A Constant of one element that is about equal to a number."""

    def __init__(self, number: float) -> None:
        self.number = number

    def matches(self, value: Output, so_far: Match) -> Iterator[Match]:
        number = single_number(value)
        if number is not None and math.isclose(number, self.number, rel_tol=_TOLERANCE):
            yield so_far


class Operation(Pattern):
    """The first output of an operation of this class whose inputs match, in any order if the operation commutes.

    ``attributes`` are the values that attributes of the operation must have.
    """

    def __init__(self, kind: type[Node], *inputs: Pattern, name: str = "", **attributes: object) -> None:
        self.kind, self.inputs, self.name, self.attributes = kind, inputs, name, attributes

    def matches(self, value: Output, so_far: Match) -> Iterator[Match]:
        node = value.node
        if not isinstance(node, self.kind) or value.index or node.get_input_size() != len(self.inputs):
            return
        if any(getattr(node, key) != wanted for key, wanted in self.attributes.items()):
            return
        named = {**so_far.values, self.name: value} if self.name else so_far.values
        start = Match(named, (*so_far.nodes, node))
        yield from _match_all(self.inputs, node.input_values(), start)
        if isinstance(node, _COMMUTATIVE):
            yield from _match_all(self.inputs, node.input_values()[::-1], start)


class Either(Pattern):
    """A value that matches at least one of several patterns."""

    def __init__(self, *patterns: Pattern) -> None:
        self.patterns = patterns

    def matches(self, value: Output, so_far: Match) -> Iterator[Match]:
        for pattern in self.patterns:
            yield from pattern.matches(value, so_far)


def product_of(first: Pattern, second: Pattern, third: Pattern) -> Pattern:
    """Return a pattern of the product of three values, in any order of multiplication."""
    pairs = ((first, second, third), (first, third, second), (second, third, first))
    return Either(*(Operation(ops.Multiply, Operation(ops.Multiply, a, b), c) for a, b, c in pairs))


def fuse_matches(model: Model, pattern: Pattern, make: Callable[[Match], Node | None]) -> bool:
    """Replace the operations of each match by ``make(match)``, and return whether any was replaced.

    No other node reads the inner values of a match. Its operations stay if ``make`` returns None.
    """
    changed = False
    for node in model.get_ordered_ops():
        match = _find(pattern, node)
        if match is not None and (replacement := make(match)) is not None:
            replace(match.nodes[::-1], replacement)
            changed = True
    return changed


def _find(pattern: Pattern, root: Node) -> Match | None:
    """Return the first match of a node with one output whose inner values no other node reads, or None."""
    if root.get_output_size() != 1:
        return None
    for match in pattern.matches(root.output(0), Match({}, ())):
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


def _match_all(patterns: tuple[Pattern, ...], values: list[Output], so_far: Match) -> Iterator[Match]:
    if not patterns:
        yield so_far
        return
    for match in patterns[0].matches(values[0], so_far):
        yield from _match_all(patterns[1:], values[1:], match)
