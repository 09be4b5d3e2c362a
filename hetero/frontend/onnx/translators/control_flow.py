"""If, Loop and Scan: operators with graphs in their attributes."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.onnx.node_context import OnnxNodeContext, translator
from hetero.frontend.translation.control_flow import (
    build_loop_body,
    connect,
    make_if,
    make_scan,
    slice_parameter,
    stack_results,
)
from hetero.frontend.translation.subgraph import Body, ModelScope, Subgraph
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import axis_length, int64
from hetero.graph import Constant, Model, Node, Output, Parameter, is_constant
from hetero.ops.checks import exact_value
from hetero.ops.control_flow.bodies import (
    BodyOutputDescription,
    ConcatOutputDescription,
    MergedInputDescription,
    SliceInputDescription,
)
from hetero.system.errors import FrontendError


@translator("If")
def if_op(node: OnnxNodeContext) -> Translation:
    condition = node.get_input(0)
    branches: list[Subgraph] = [node.get_attribute("then_branch"), node.get_attribute("else_branch")]
    for branch in branches:
        if branch.output_count != node.get_output_size():
            raise FrontendError(f"a branch has {branch.output_count} outputs, the node {node.get_output_size()}")
    known = exact_value(condition)
    taken = None if known is None else branches[0 if known.item() else 1]
    if taken is not None and is_constant(condition):
        return taken.inline([], node.name)
    try:
        bodies = [branch.build([], []) for branch in branches]
    except FrontendError:
        if taken is None:
            raise
        # The condition follows from shapes. The other branch may be invalid for them.
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
        running = Constant(np.bool_(True))  # the condition is true whenever the body runs
        return graph.build([iteration, running, *carried], [iteration, *carried])

    body = build_loop_body(build, initial, 1)
    carried = range(len(initial))
    scanned = range(1 + len(initial), graph.output_count)
    stack_results(body.model, dict.fromkeys(scanned, 0))
    operation = ops.Loop(trip_count, condition)
    operation.set_special_body_ports([0, 0])
    return connect(
        operation,
        body,
        [trip_count, condition, *initial],
        [MergedInputDescription(2 + i, 1 + i, 1 + i) for i in carried],
        [BodyOutputDescription(1 + i, i) for i in carried]
        + [ConcatOutputDescription(i, i - 1, 0, 1, 1, -1, 0) for i in scanned],
    )


@translator("Scan", since=9)
def scan(node: OnnxNodeContext) -> Translation:
    count = node.get_attribute("num_scan_inputs")
    inputs, graph = node.get_inputs(), node.get_attribute("body")
    states, scanned = inputs[: len(inputs) - count], inputs[len(inputs) - count :]
    _check_outputs(graph, len(states), node.get_output_size())
    output_count = graph.output_count - len(states)
    return make_scan(
        graph,
        states,
        scanned,
        node.get_attribute("scan_input_axes", (0,) * count),
        node.get_attribute("scan_input_directions", (0,) * count),
        node.get_attribute("scan_output_axes", (0,) * output_count),
        node.get_attribute("scan_output_directions", (0,) * output_count),
    )


@translator("Scan", since=8)
def scan_8(node: OnnxNodeContext) -> Translation:
    """Scan of operator set 8: all values have a batch axis 0, and each sequence of a batch has its own length.

    The result is a TensorIterator over the batch, with the Scan of one sequence in its body.
    """
    count, graph = node.get_attribute("num_scan_inputs"), node.get_attribute("body")
    lengths = node.get_optional_input(0)
    inputs = [node.get_input(index) for index in range(1, node.get_input_size())]
    state_count = len(inputs) - count
    _check_outputs(graph, state_count, node.get_output_size())
    parts = [slice_parameter(value, 0) for value in inputs]
    items = [ops.Squeeze(part, int64([0])).output(0) for part in parts]
    if lengths is not None:
        parts.append(slice_parameter(lengths, 0))
        for index in range(state_count, len(items)):
            items[index] = _first_elements(items[index], parts[-1])
    scope = ModelScope()
    directions = node.get_attribute("directions", (0,) * count)
    output_count = graph.output_count - state_count
    inner = make_scan(
        graph,
        items[:state_count],
        items[state_count:],
        (0,) * count,
        directions,
        (0,) * output_count,
        (0,) * output_count,
        lambda value: scope.capture(value, value.node.friendly_name),
    )
    outputs = inner.outputs()
    if lengths is not None:
        padded_length = axis_length(parts[state_count], [1])
        outputs[state_count:] = [_pad_with_zeros(value, padded_length) for value in outputs[state_count:]]
    model = Model(outputs, [*parts, *scope.captured.values()], f"{node.name}/batch")
    stack_results(model, dict.fromkeys(range(len(outputs)), 0))
    arguments = inputs if lengths is None else [*inputs, lengths]
    return connect(
        ops.TensorIterator(),
        Body(model, list(scope.captured)),
        arguments,
        [SliceInputDescription(i, i, 0, 1, 1, -1, 0) for i in range(len(arguments))],
        [ConcatOutputDescription(i, i, 0, 1, 1, -1, 0) for i in range(len(outputs))],
    )


def _not_negative(count: Output) -> Output:
    """Return max(count, 0): in ONNX a negative trip count means no iteration, in Loop-5 it means no limit."""
    known = exact_value(count)
    return count if known is not None and (known >= 0).all() else ops.Maximum(count, np.int64(0)).output(0)


def _first_elements(value: Output, length: Node) -> Output:
    """Return the first ``length`` elements along axis 0."""
    return ops.Slice(value, int64([0]), length, int64([1]), int64([0])).output(0)


def _pad_with_zeros(value: Output, length: Output) -> Output:
    """Append zeros along axis 0 up to ``length``."""
    shape = ops.ShapeOf(value)
    missing = ops.Subtract(length, axis_length(value, [0]))
    rest = ops.Slice(shape, int64([1]), int64([np.iinfo(np.int64).max]), int64([1]), int64([0]))
    zeros = ops.Broadcast(ops.Convert(np.int64(0), value.element_type), ops.Concat([missing, rest], 0))
    return ops.Concat([value, zeros], 0).output(0)


def _check_outputs(graph: Subgraph, minimum: int, expected: int) -> None:
    """Raise FrontendError if a body does not have the expected number of outputs, or fewer than the minimum."""
    if graph.output_count != expected or graph.output_count < minimum:
        raise FrontendError(f"its body has {graph.output_count} outputs, but {max(expected, minimum)} are needed")
