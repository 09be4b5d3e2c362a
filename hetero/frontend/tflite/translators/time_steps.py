"""Sequences: a step that is made for one time after the other, with states that it hands on."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import tflite

from hetero import ops
from hetero.frontend.control_flow import connect
from hetero.frontend.subgraph import Body, ModelScope
from hetero.frontend.tflite.node_context import TfliteNodeContext
from hetero.frontend.translation import Translation
from hetero.frontend.values import int64, length_of, rank_of, reshape
from hetero.graph import Model, Output, Parameter
from hetero.ops.port_maps import (
    BodyOutputDescription,
    ConcatOutputDescription,
    MergedInputDescription,
    SliceInputDescription,
)
from hetero.shape import concatenate

# The functions that the sequence operations have; all others are made step by step.
FUNCTIONS_OF_SEQUENCES = {tflite.ActivationFunctionType.RELU: "relu", tflite.ActivationFunctionType.TANH: "tanh"}
# What stands within a step for a value from outside, as weights are.
Enter = Callable[[Output], Output]
# Of the data of one time and the states, the result and the states for the next time.
Step = Callable[[Output, list[Output], Enter], tuple[Output, list[Output]]]


def over_time(
    step: Step, data: Output, states: Sequence[Output], axis: int, reverse: bool
) -> tuple[Output, list[Output]]:
    """The results of all times, joined along the axis, and the last states.

    ``axis``: that of the times of the data; ``reverse``: whether the last time comes first.
    """
    if data.partial_shape[axis] == 1:
        result, last = step(_without(data, axis), list(states), lambda value: value)
        return _with(result, axis), last
    host, shape = ModelScope(), data.partial_shape
    part = Parameter(data.element_type, concatenate(shape[:axis], [1], shape[axis + 1 :]))
    carried = [Parameter(state.element_type, state.partial_shape) for state in states]
    result, new = step(
        _without(part.output(0), axis),
        [parameter.output(0) for parameter in carried],
        lambda value: host.capture(value, "weights"),
    )
    model = Model([_with(result, axis), *new], [part, *carried, *host.captured.values()], "step")
    places = (-1, -1, 1, 0, axis) if reverse else (0, 1, 1, -1, axis)
    count = len(carried)
    made = connect(
        ops.TensorIterator(),
        Body(model, list(host.captured)),
        [data, *states],
        [SliceInputDescription(0, 0, *places), *(MergedInputDescription(i, i, i) for i in range(1, 1 + count))],
        [ConcatOutputDescription(0, 0, *places), *(BodyOutputDescription(i, i) for i in range(1, 1 + count))],
    )
    return made.output(0), made.outputs()[1:]


def batches_first(data: Output, axis: int) -> Output:
    """``[N, time, …]`` of data whose times are axis 0 or 1; of such a result the data again."""
    if axis == 1:
        return data
    return ops.Transpose(data, int64([1, 0, *range(2, rank_of(data))])).output(0)


def all_times(data: Output) -> Output:
    """The lengths ``[N]`` of sequences ``[N, time, …]`` that have all times."""
    return ops.Broadcast(length_of(data, 1), reshape(length_of(data, 0), (1,))).output(0)


def with_auxiliary_data(
    node: TfliteNodeContext, auxiliary: int, direction: int, weights: Sequence[Output], of_auxiliary: Sequence[int]
) -> tuple[Output, list[Output]]:
    """The data of a direction, and its weights, for a network of two directions that may have auxiliary data.

    ``auxiliary``: the input that this is; ``of_auxiliary``: those that are its weights. Where it has weights it stands
    beside the data; where it has none it is the data of the backward direction.
    """
    data = node.get_input(0)
    if not node.has_input(auxiliary):
        return data, list(weights)
    other = node.get_input(auxiliary)
    if not node.has_input(of_auxiliary[-1]):
        return other if direction else data, list(weights)
    both = [ops.Concat([one, node.get_input(index)], 1).output(0) for one, index in zip(weights, of_auxiliary)]
    return ops.Concat([data, other], 2).output(0), both


def merged(node: TfliteNodeContext, results: Sequence[Output]) -> Translation:
    """The results of both directions: side by side, or each as an output."""
    return ops.Concat(results, 2) if node.get_attribute("merge_outputs") else results


def _without(value: Output, axis: int) -> Output:
    return ops.Squeeze(value, int64([axis])).output(0)


def _with(value: Output, axis: int) -> Output:
    return ops.Unsqueeze(value, int64([axis])).output(0)
