"""Port maps: connections of an operation's inputs and outputs to the Parameters and Results of its bodies.

Every field is an index into the operation's inputs or outputs, or into the body's parameters or results. The names,
fields and defaults are OpenVINO's.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

from hetero.graph.node import DiscreteTypeInfo


class _Description:
    """What all connections have in common."""

    def get_type_info(self) -> DiscreteTypeInfo:
        return DiscreteTypeInfo(type(self).__name__, "util")

    def copy(self) -> Self:
        return replace(self)  # type: ignore[type-var]  # every subclass is a dataclass

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"


@dataclass(repr=False)
class InputDescription(_Description):
    """Connection of an input of the operation to a Parameter of the body."""

    input_index: int = 0
    body_parameter_index: int = 0


@dataclass(repr=False)
class SliceInputDescription(InputDescription):
    """Each iteration receives the next slice of the input.

    Slices of length ``part_size`` along ``axis`` start every ``stride`` elements, from ``start`` to ``end``, both
    inclusive. Negative positions count from the end of the axis (-1 is the last). A negative stride goes backwards.
    """

    start: int = 0
    stride: int = 0
    part_size: int = 0
    end: int = 0
    axis: int = 0


@dataclass(repr=False)
class MergedInputDescription(InputDescription):
    """The first iteration receives the input, each later one the body's Result of the previous iteration."""

    body_value_index: int = 0


@dataclass(repr=False)
class InvariantInputDescription(InputDescription):
    """Every iteration receives the whole input."""


@dataclass(repr=False)
class _OutputDescription(_Description):
    """Connection of a Result of the body to an output of the operation."""

    body_value_index: int = 0
    output_index: int = 0


@dataclass(repr=False)
class ConcatOutputDescription(_OutputDescription):
    """The Results of all iterations concatenated along ``axis``, in reverse order if the stride is negative."""

    start: int = 0
    stride: int = 0
    part_size: int = 0
    end: int = 0
    axis: int = 0


@dataclass(repr=False)
class BodyOutputDescription(_OutputDescription):
    """The Result of one iteration, -1 for the last."""

    iteration: int = -1


OutputDescription = ConcatOutputDescription | BodyOutputDescription
