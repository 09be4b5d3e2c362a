"""Port maps: connections of an operation's inputs and outputs to the Parameters and Results of its bodies.

Every field is an index into the operation's inputs or outputs, or into the body's parameters or results. The names,
fields and defaults are OpenVINO's.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class InputDescription:
    """Connection of an input of the operation to a Parameter of the body."""

    input_index: int
    body_parameter_index: int


@dataclass
class SliceInputDescription(InputDescription):
    """Each iteration receives the next slice of the input.

    Slices of length ``part_size`` along ``axis`` start every ``stride`` elements, from ``start`` to ``end``, both
    inclusive. Negative positions count from the end of the axis (-1 is the last). A negative stride goes backwards.
    """

    start: int
    stride: int
    part_size: int
    end: int
    axis: int


@dataclass
class MergedInputDescription(InputDescription):
    """The first iteration receives the input, each later one the body's Result of the previous iteration."""

    body_value_index: int


@dataclass
class InvariantInputDescription(InputDescription):
    """Every iteration receives the whole input."""


@dataclass
class _OutputDescription:
    """Connection of a Result of the body to an output of the operation."""

    body_value_index: int
    output_index: int


@dataclass
class ConcatOutputDescription(_OutputDescription):
    """The Results of all iterations concatenated along ``axis``, in reverse order if the stride is negative."""

    start: int
    stride: int
    part_size: int
    end: int
    axis: int


@dataclass
class BodyOutputDescription(_OutputDescription):
    """The Result of one iteration, -1 for the last."""

    iteration: int = -1


OutputDescription = ConcatOutputDescription | BodyOutputDescription
