"""Patterns of operations: what a fused operation is made of, looked for from its last operation backwards.

A pattern is built of other patterns and tells in how many ways a value fits::

    x = Anything("x")
    root = Operation(ops.Multiply, x, Operation(ops.Sigmoid, x))   # the same value at both places
    match = find(root, node)                                       # None, or match["x"] and match.nodes
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from hetero import ops
from hetero.graph import Node, Output, is_constant
from hetero.graph.runtime_info import copy_runtime_info

_COMMUTATIVE = (ops.Add, ops.Multiply, ops.Maximum, ops.Minimum)
# Numbers in models are rounded to few digits: 1.4142 for the square root of two.
_TOLERANCE = 1e-3


class Match(NamedTuple):
    """The values that named patterns stand for, and the nodes that the pattern covers, its root first."""

    values: dict[str, Output]
    nodes: tuple[Node, ...]

    def __getitem__(self, name: str) -> Output:  # type: ignore[override]
        return self.values[name]

    def __contains__(self, name: object) -> bool:
        return name in self.values


class Pattern:
    """Something that a value may be."""

    def matches(self, value: Output, so_far: Match) -> Iterator[Match]:
        """Every way in which the value fits, given what was found already."""
        raise NotImplementedError


class Anything(Pattern):
    """Any value; under one name always the same one."""

    def __init__(self, name: str) -> None:
        self.name = name

    def matches(self, value: Output, so_far: Match) -> Iterator[Match]:
        known = so_far.values.get(self.name)
        if known is None:
            yield so_far._replace(values={**so_far.values, self.name: value})
        elif known is value:
            yield so_far


class AnyConstant(Anything):
    """The value of any Constant."""

    def matches(self, value: Output, so_far: Match) -> Iterator[Match]:
        if is_constant(value):
            yield from super().matches(value, so_far)


class Number(Pattern):
    """A Constant of one element that is about this number."""

    def __init__(self, number: float) -> None:
        self.number = number

    def matches(self, value: Output, so_far: Match) -> Iterator[Match]:
        number = single_number(value)
        if number is not None and math.isclose(number, self.number, rel_tol=_TOLERANCE):
            yield so_far


class Operation(Pattern):
    """The first output of an operation of this class, or of one of several, with inputs that fit.

    Their order is free where the operation commutes. ``attributes``: what attributes must be.
    """

    def __init__(
        self, kind: type[Node] | tuple[type[Node], ...], *inputs: Pattern, name: str = "", **attributes: object
    ) -> None:
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
    """What fits one of several patterns."""

    def __init__(self, *patterns: Pattern) -> None:
        self.patterns = patterns

    def matches(self, value: Output, so_far: Match) -> Iterator[Match]:
        for pattern in self.patterns:
            yield from pattern.matches(value, so_far)


def product_of(first: Pattern, second: Pattern, third: Pattern) -> Pattern:
    """The product of three values, whichever two are multiplied first."""
    pairs = ((first, second, third), (first, third, second), (second, third, first))
    return Either(*(Operation(ops.Multiply, Operation(ops.Multiply, a, b), c) for a, b, c in pairs))


def find(pattern: Pattern, root: Node) -> Match | None:
    """The first way in which a node with one output fits, such that nobody else reads what is between."""
    if root.get_output_size() != 1:
        return None
    for match in pattern.matches(root.output(0), Match({}, ())):
        inside = set(match.nodes)
        between = [output for node in inside - {root} for output in node.outputs()]
        if all(target.node in inside for output in between for target in output.get_target_inputs()):
            return match
    return None


def replace(match: Match, replacement: Node) -> None:
    """Let a node take the place of the match's root, under its name, and stand for all that the match covers."""
    root = match.nodes[0]
    copy_runtime_info(reversed(match.nodes), replacement)
    replacement.friendly_name = root.friendly_name
    root.output(0).replace(replacement.output(0))
    for node in match.nodes:
        node.disconnect()


def single_number(value: Output) -> float | None:
    """The number of a Constant of one element; None for anything else."""
    if not is_constant(value) or value.node.data.size != 1 or not value.element_type.is_real():
        return None
    return float(value.node.data.astype(np.float64).reshape(()))


def _match_all(patterns: tuple[Pattern, ...], values: list[Output], so_far: Match) -> Iterator[Match]:
    if not patterns:
        yield so_far
        return
    for match in patterns[0].matches(values[0], so_far):
        yield from _match_all(patterns[1:], values[1:], match)
