"""If, Loop and Scan: operators with graphs among their attributes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from hetero import ops
from hetero.errors import FrontendError
from hetero.frontend.control_flow import build_loop_body, connect, make_if
from hetero.frontend.onnx.node_context import OnnxNodeContext
from hetero.frontend.onnx.registry import translator
from hetero.frontend.subgraph import Body, ModelScope, Subgraph
from hetero.frontend.translation import Translation
from hetero.graph import Constant, Model, Node, Output, Parameter, is_constant
from hetero.ops.control_flow import SubGraphOp
from hetero.ops.port_maps import (
    BodyOutputDescription,
    ConcatOutputDescription,
    InputDescription,
    MergedInputDescription,
    OutputDescription,
    SliceInputDescription,
)
from hetero.ops.values import exact_value
from hetero.types import Type


@translator("If")
def if_op(node: OnnxNodeContext) -> Translation:
    condition = node.get_input(0)
    branches: list[Subgraph] = [node.get_attribute("then_branch"), node.get_attribute("else_branch")]
    for branch in branches:
        if branch.output_count != node.get_output_size():
            raise FrontendError(f"a branch has {branch.output_count} outputs, the node {node.get_output_size()}")
    known = exact_value(condition)
    taken = None if known is None else branches[0 if known.item() else 1]
    if is_constant(condition):
        return taken.inline([], node.name)
    try:
        bodies = [branch.build([], []) for branch in branches]
    except FrontendError:
        if taken is None:
            raise
        # Shapes tell which branch runs; the other need not make sense for them.
        return taken.inline([], node.name)
    return make_if(condition, bodies)


@translator("Loop")
def loop(node: OnnxNodeContext) -> Translation:
    trip_count = _not_negative(node.get_input(0)) if node.has_input(0) else Constant(np.int64(-1)).output(0)
    condition = node.get_input(1) if node.has_input(1) else Constant(np.bool_(True)).output(0)
    initial = [node.get_input(index) for index in range(2, node.get_input_size())]
    graph: Subgraph = node.get_attribute("body")
    _check_outputs(graph, len(initial) + 1, node.get_output_size() + 1)

    def build(carried: list[Parameter]) -> Body:
        iteration = Parameter(Type.i64, [])
        running = Constant(np.bool_(True))  # what the condition is whenever the body runs
        return graph.build([iteration, running, *carried], [iteration, *carried])

    body = build_loop_body(build, initial, 1)
    carried = range(len(initial))
    scanned = range(1 + len(initial), graph.output_count)
    _stack_results(body.model, dict.fromkeys(scanned, 0))
    made = ops.Loop(trip_count, condition)
    made.set_special_body_ports([0, 0])
    return connect(
        made,
        body,
        [trip_count, condition, *initial],
        [MergedInputDescription(2 + place, 1 + place, 1 + place) for place in carried],
        [BodyOutputDescription(1 + place, place) for place in carried]
        + [ConcatOutputDescription(place, place - 1, 0, 1, 1, -1, 0) for place in scanned],
    )


@translator("Scan", since=9)
def scan(node: OnnxNodeContext) -> Translation:
    count = node.get_attribute("num_scan_inputs")
    inputs, graph = node.get_inputs(), node.get_attribute("body")
    states, scanned = inputs[: len(inputs) - count], inputs[len(inputs) - count :]
    _check_outputs(graph, len(states), node.get_output_size())
    made_count = graph.output_count - len(states)
    return _scan(
        graph,
        states,
        scanned,
        node.get_attribute("scan_input_axes", (0,) * count),
        node.get_attribute("scan_input_directions", (0,) * count),
        node.get_attribute("scan_output_axes", (0,) * made_count),
        node.get_attribute("scan_output_directions", (0,) * made_count),
    )


@translator("Scan", since=8)
def scan_of_batches(node: OnnxNodeContext) -> Translation:
    """Scan as it was at first: everything has a batch as axis 0, and the sequences of a batch have their own lengths.

    A TensorIterator over the batch, with the Scan of one sequence in its body.
    """
    count, graph = node.get_attribute("num_scan_inputs"), node.get_attribute("body")
    lengths = node.get_optional_input(0)
    inputs = [node.get_input(index) for index in range(1, node.get_input_size())]
    state_count = len(inputs) - count
    _check_outputs(graph, state_count, node.get_output_size())
    parts = [_part_of(value, 0) for value in inputs]
    items = [ops.Squeeze(part, np.int64([0])).output(0) for part in parts]
    if lengths is not None:
        parts.append(_part_of(lengths, 0))
        for place in range(state_count, len(items)):
            items[place] = _slice_of(items[place], parts[-1])
    host = ModelScope()
    directions = node.get_attribute("directions", (0,) * count)
    made_count = graph.output_count - state_count
    inner = _scan(
        graph,
        items[:state_count],
        items[state_count:],
        (0,) * count,
        directions,
        (0,) * made_count,
        (0,) * made_count,
        lambda value: host.capture(value, value.node.friendly_name),
    )
    outputs = inner.outputs()
    if lengths is not None:
        whole = ops.Gather(ops.ShapeOf(parts[state_count]), np.int64([1]), np.int64(0))
        outputs[state_count:] = [_padded_to(value, whole.output(0)) for value in outputs[state_count:]]
    model = Model(outputs, [*parts, *host.captured.values()], f"{node.name}/batch")
    _stack_results(model, dict.fromkeys(range(len(outputs)), 0))
    given = inputs if lengths is None else [*inputs, lengths]
    return connect(
        ops.TensorIterator(),
        Body(model, list(host.captured)),
        given,
        [SliceInputDescription(i, i, 0, 1, 1, -1, 0) for i in range(len(given))],
        [ConcatOutputDescription(i, i, 0, 1, 1, -1, 0) for i in range(len(outputs))],
    )


def _scan(
    graph: Subgraph,
    states: Sequence[Output],
    scanned: Sequence[Output],
    input_axes: Sequence[int],
    input_directions: Sequence[int],
    output_axes: Sequence[int],
    output_directions: Sequence[int],
    seen: Callable[[Output], Output] = lambda value: value,
) -> SubGraphOp:
    """The TensorIterator of a Scan. ``seen``: how captured values are seen where it stands."""

    def build(carried: list[Parameter]) -> Body:
        parts = [_part_of(value, axis) for value, axis in zip(scanned, input_axes)]
        items = [ops.Squeeze(part, np.int64([axis])) for part, axis in zip(parts, input_axes)]
        return graph.build([*carried, *items], [*carried, *parts])

    body = build_loop_body(build, states, 0)
    count = len(states)
    _stack_results(body.model, {count + place: axis for place, axis in enumerate(output_axes)})
    inputs: list[InputDescription] = [MergedInputDescription(place, place, place) for place in range(count)]
    outputs: list[OutputDescription] = [BodyOutputDescription(place, place) for place in range(count)]
    for place, (axis, backward) in enumerate(zip(input_axes, input_directions), count):
        inputs.append(SliceInputDescription(place, place, *_direction(backward), axis))
    for place, (axis, backward) in enumerate(zip(output_axes, output_directions), count):
        outputs.append(ConcatOutputDescription(place, place, *_direction(backward), axis))
    body = Body(body.model, [seen(value) for value in body.captured])
    return connect(ops.TensorIterator(), body, [*states, *scanned], inputs, outputs)


def _not_negative(count: Output) -> Output:
    """A trip count as ONNX means it, where a negative one is none; to Loop it is no limit."""
    known = exact_value(count)
    return count if known is not None and (known >= 0).all() else ops.Maximum(count, np.int64(0)).output(0)


def _direction(backward: int) -> tuple[int, int, int, int]:
    """Start, stride, length of a part and end."""
    return (-1, -1, 1, 0) if backward else (0, 1, 1, -1)


def _stack_results(model: Model, axes: Mapping[int, int]) -> None:
    """Give results, by index, an axis of length 1 along which those of all iterations can be joined."""
    for index, axis in axes.items():
        result = model.results[index]
        stacked = ops.Unsqueeze(result.input_value(0), np.int64([axis]), name=f"{result.friendly_name}/Unsqueeze")
        result.input(0).replace_source_output(stacked.output(0))
        result.infer()


def _part_of(value: Output, axis: int) -> Parameter:
    """A Parameter for a part of length 1 along an axis."""
    shape = value.partial_shape
    if shape.has_rank:
        if not -len(shape) <= axis < len(shape):
            raise FrontendError(f"axis {axis} is none of a scanned value of rank {len(shape)}")
        lengths = list(shape)
        lengths[axis] = 1
        shape = lengths
    return Parameter(value.element_type, shape)


def _slice_of(value: Output, length: Node) -> Output:
    """The first elements along axis 0."""
    return ops.Slice(value, np.int64([0]), length, np.int64([1]), np.int64([0])).output(0)


def _padded_to(value: Output, length: Output) -> Output:
    """Zeros added at the end of axis 0."""
    shape = ops.ShapeOf(value)
    missing = ops.Subtract(length, ops.Gather(shape, np.int64([0]), np.int64(0)))
    rest = ops.Slice(shape, np.int64([1]), np.int64([np.iinfo(np.int64).max]), np.int64([1]), np.int64([0]))
    zeros = ops.Broadcast(ops.Convert(np.int64(0), value.element_type), ops.Concat([missing, rest], 0))
    return ops.Concat([value, zeros], 0).output(0)


def _check_outputs(graph: Subgraph, least: int, expected: int) -> None:
    if graph.output_count != expected or graph.output_count < least:
        raise FrontendError(f"its body has {graph.output_count} outputs, but {max(expected, least)} are needed")
