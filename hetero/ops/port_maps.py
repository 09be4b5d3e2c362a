"""How the ports of an operation with bodies are connected to the Parameters and Results of a body.

All is by index: of the operation's inputs and outputs, and of the body's parameters and results. The names, fields
and defaults are OpenVINO's.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class InputDescription:
    """An input of the operation and the Parameter of the body that it feeds."""

    input_index: int
    body_parameter_index: int


@dataclass
class SliceInputDescription(InputDescription):
    """Each iteration gets the next part of the input.

    The parts lie along ``axis``, are ``part_size`` long and begin ``stride`` apart, from ``start`` to ``end``, both
    included; negative ones count from the end of the axis (-1 is its last place). A negative stride goes backwards.
    """

    start: int
    stride: int
    part_size: int
    end: int
    axis: int


@dataclass
class MergedInputDescription(InputDescription):
    """The first iteration gets the input, each later one what the body's Result was in the one before."""

    body_value_index: int


@dataclass
class InvariantInputDescription(InputDescription):
    """Every iteration gets the whole input."""


@dataclass
class OutputDescription:
    """A Result of the body and the output of the operation that it makes."""

    body_value_index: int
    output_index: int


@dataclass
class ConcatOutputDescription(OutputDescription):
    """The Results of all iterations joined along ``axis``, in backward order where the stride is negative."""

    start: int
    stride: int
    part_size: int
    end: int
    axis: int


@dataclass
class BodyOutputDescription(OutputDescription):
    """The Result of one iteration, -1 for the last."""

    iteration: int = -1
