"""Sequences of recurrent operators: a step function applied to each time step, with states."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import tflite

from hetero import ops
from hetero.core.shape import concatenate
from hetero.frontend.tflite.node_context import TfliteNodeContext
from hetero.frontend.translation.control_flow import connect
from hetero.frontend.translation.subgraph import Body, ModelScope
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import axis_length, int64, rank_of, reshape
from hetero.graph import Model, Op, Output, Parameter
from hetero.ops.control_flow.bodies import (
    BodyOutputDescription,
    ConcatOutputDescription,
    MergedInputDescription,
    SliceInputDescription,
)

# The activations that RNNSequence and LSTMSequence support; others run step by step.
SEQUENCE_ACTIVATIONS = {tflite.ActivationFunctionType.RELU: "relu", tflite.ActivationFunctionType.TANH: "tanh"}
# Returns the representation, within a step, of a value from outside, such as weights.
Capture = Callable[[Output], Output]
# Takes the data of one time step and the states; returns the result and the new states.
Step = Callable[[Output, list[Output], Capture], tuple[Output, list[Output]]]


def scan(step: Step, data: Output, states: Sequence[Output], axis: int, reverse: bool) -> tuple[Output, list[Output]]:
    """Apply a step to all time steps; return the results, concatenated along the axis, and the last states.

    ``axis``: the time axis of the data. ``reverse``: whether to start from the last time step.
    """
    if data.partial_shape[axis] == 1:
        result, last = step(_squeeze(data, axis), list(states), lambda value: value)
        return _unsqueeze(result, axis), last
    scope, shape = ModelScope(), data.partial_shape
    part = Parameter(data.element_type, concatenate(shape[:axis], [1], shape[axis + 1 :]))
    carried = [Parameter(state.element_type, state.partial_shape) for state in states]
    result, new = step(
        _squeeze(part.output(0), axis),
        [parameter.output(0) for parameter in carried],
        lambda value: scope.capture(value, "weights"),
    )
    model = Model([_unsqueeze(result, axis), *new], [part, *carried, *scope.captured.values()], "step")
    # start, stride, part_size, end, axis
    slicing = (-1, -1, 1, 0, axis) if reverse else (0, 1, 1, -1, axis)
    count = len(carried)
    iterator = connect(
        ops.TensorIterator(),
        Body(model, list(scope.captured)),
        [data, *states],
        [SliceInputDescription(0, 0, *slicing), *(MergedInputDescription(i, i, i) for i in range(1, 1 + count))],
        [ConcatOutputDescription(0, 0, *slicing), *(BodyOutputDescription(i, i) for i in range(1, 1 + count))],
    )
    return iterator.output(0), iterator.outputs()[1:]


def run_sequence(
    operation: type[Op],
    data: Output,
    states: Sequence[Output],
    weights: Sequence[Output],
    activations: Sequence[str],
    axis: int,
    reverse: bool,
) -> tuple[Output, list[Output]]:
    """Apply RNNSequence or an LSTMSequence to sequences of full length; the last states are ``[N, cells]``.

    ``states`` are ``[N, cells]``, ``weights`` have no axis of directions. Otherwise like ``scan``.
    """
    data = _batch_major(data, axis)
    sequence = operation(
        data,
        *(_unsqueeze(state, 1) for state in states),
        ops.Broadcast(axis_length(data, 1), reshape(axis_length(data, 0), (1,))),
        *(_unsqueeze(part, 0) for part in weights),
        hidden_size=states[0].partial_shape[-1].get_length(),
        direction="reverse" if reverse else "forward",
        activations=activations,
    )
    results, *last = (_squeeze(value, 1) for value in sequence.outputs())
    return _batch_major(results, axis), last


def _batch_major(data: Output, axis: int) -> Output:
    """Swap axes 0 and 1 unless the time axis already is 1: to ``[N, time, …]`` and, from there, back."""
    if axis == 1:
        return data
    return ops.Transpose(data, int64([1, 0, *range(2, rank_of(data))])).output(0)


def add_auxiliary_input(
    node: TfliteNodeContext, auxiliary: int, direction: int, weights: Sequence[Output], auxiliary_weights: Sequence[int]
) -> tuple[Output, list[Output]]:
    """Return the data and the input weights of a direction of a bidirectional network that may have auxiliary data.

    ``auxiliary`` and ``auxiliary_weights``: the indices of the inputs with the auxiliary data and its weights.
    Auxiliary data with weights is concatenated to the data; without weights, it is the data of the backward direction.
    """
    data = node.get_input(0)
    if not node.has_input(auxiliary):
        return data, list(weights)
    other = node.get_input(auxiliary)
    if not node.has_input(auxiliary_weights[-1]):
        return other if direction else data, list(weights)
    both = [ops.Concat([one, node.get_input(index)], 1).output(0) for one, index in zip(weights, auxiliary_weights)]
    return ops.Concat([data, other], 2).output(0), both


def merge_directions(node: TfliteNodeContext, results: Sequence[Output]) -> Translation:
    """Return the results of both directions: concatenated if ``merge_outputs`` is set, else as two outputs."""
    return ops.Concat(results, 2) if node.get_attribute("merge_outputs") else results


def _squeeze(value: Output, axis: int) -> Output:
    return ops.Squeeze(value, int64([axis])).output(0)


def _unsqueeze(value: Output, axis: int) -> Output:
    return ops.Unsqueeze(value, int64([axis])).output(0)
