"""Predicates of pattern nodes: conditions on the type, the shape, the readers and the attributes of a value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hetero.core.shape import Dimension
from hetero.core.types import Type
from hetero.graph import Output
from hetero.passes.matching.pattern_graph import Predicate


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
        return all(key in own and own[key] == wanted for key, wanted in attributes.items())

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
