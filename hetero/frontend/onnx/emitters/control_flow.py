"""If, Loop and TensorIterator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from onnx import GraphProto

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.onnx.node_writer import Argument, NodeWriter, NotInOnnx, emitter
from hetero.graph import Parameter, Result
from hetero.ops.control_flow.bodies import (
    ConcatOutputDescription,
    InvariantInputDescription,
    MergedInputDescription,
    SliceInputDescription,
)
from hetero.ops.control_flow.control_flow import SubGraphOp

if TYPE_CHECKING:
    from hetero.frontend.onnx.graph_writer import GraphWriter


@emitter(ops.If)
def if_(node: NodeWriter) -> Sequence[str]:
    then_branch, else_branch = (_branch(node, index) for index in (0, 1))
    count = node.op.get_output_size()
    return node.add_outputs(count, "If", node.input(0), then_branch=then_branch, else_branch=else_branch)


def _branch(node: NodeWriter, index: int) -> GraphProto:
    """Return a body without inputs, which reads the values of the outer graph."""
    op, body = node.op, node.op.bodies[index]
    graph = node.graph.nested(f"{op.friendly_name}/{'then' if index == 0 else 'else'}")
    for source in op.input_descriptions[index]:
        graph.bind(body.parameters[source.body_parameter_index].output(0), node.input(source.input_index))
    graph.write_nodes(body)
    results = {each.output_index: body.results[each.body_value_index] for each in op.output_descriptions[index]}
    for output in range(op.get_output_size()):
        graph.add_output(results[output])
    return graph.proto


@emitter(ops.Loop)
def loop(node: NodeWriter) -> Sequence[str]:
    count: Argument = node.vector(0)
    if isinstance(count, np.ndarray):  # a negative count means no limit
        count = None if count[0] < 0 else count.reshape(())
    else:
        count = node.add("Where", node.add("Less", count, [0]), [np.iinfo(np.int64).max], count)
    return _loop(node, count, node.input(1), *node.op.get_special_body_ports())


@emitter(ops.TensorIterator)
def tensor_iterator(node: NodeWriter) -> Sequence[str]:
    count: Argument = np.array(node.op.get_num_iterations())
    if node.op.get_num_iterations() < 0:
        sliced = [each for each in node.op.get_input_descriptions() if isinstance(each, SliceInputDescription)]
        whole = [each for each in sliced if (each.start, each.stride, each.part_size, each.end) in _WHOLE]
        if not whole:
            raise NotInOnnx("an unknown number of iterations")
        count = node.lengths(node.input(whole[0].input_index), [whole[0].axis])
    return _loop(node, count, None)


# start, stride, part_size and end of slices of one element each, from the first to the last or the other way round.
_WHOLE = ((0, 1, 1, -1), (-1, -1, 1, 0))


def _loop(
    node: NodeWriter, count: Argument, condition: str | None, iteration_port: int = -1, condition_port: int = -1
) -> list[str]:
    op: SubGraphOp = node.op
    body = op.body
    graph = node.graph.nested(f"{op.friendly_name}/body")
    iteration = graph.add_input(Parameter(Type.i64, [], name=f"{op.friendly_name}/iteration"))
    running = graph.add_input(Parameter(Type.boolean, [], name=f"{op.friendly_name}/running"))
    inner = NodeWriter(op, graph)
    if iteration_port >= 0:
        port = body.parameters[iteration_port].output(0)
        value = inner.cast(iteration, port.element_type, Type.i64)
        is_vector = port.partial_shape.has_rank and len(port.partial_shape) == 1
        graph.bind(port, inner.add("Reshape", value, [1]) if is_vector else value)
    carried, initial = [], []
    for source in op.get_input_descriptions():
        parameter, value = body.parameters[source.body_parameter_index], node.input(source.input_index)
        if isinstance(source, MergedInputDescription):
            graph.add_input(parameter)
            carried.append(source.body_value_index)
            initial.append(value)
        elif isinstance(source, InvariantInputDescription):
            graph.bind(parameter.output(0), value)
        elif isinstance(source, SliceInputDescription):
            graph.bind(parameter.output(0), _part(node, inner, source, value, iteration))
    inner.finish()
    graph.write_nodes(body)
    _add_condition(op, graph, body.results[condition_port] if condition_port >= 0 else None, running)
    for index in carried:
        graph.add_output(body.results[index])
    # The other results are kept for every iteration.
    kept = [
        each
        for each in op.get_output_descriptions()
        if isinstance(each, ConcatOutputDescription) or each.iteration != -1 or each.body_value_index not in carried
    ]
    scanned = list(dict.fromkeys(each.body_value_index for each in kept))
    for index in scanned:
        graph.add_output(body.results[index])
    values = node.add_outputs(
        len(carried) + len(scanned),
        "Loop",
        count,
        np.array(True) if condition is None else condition,
        *initial,
        body=graph.proto,
    )
    outputs = {}
    for each in op.get_output_descriptions():
        if each not in kept:
            outputs[each.output_index] = values[carried.index(each.body_value_index)]
            continue
        stacked = values[len(carried) + scanned.index(each.body_value_index)]
        if isinstance(each, ConcatOutputDescription):
            outputs[each.output_index] = _concatenated(node, stacked, each, body.results[each.body_value_index])
        else:
            outputs[each.output_index] = node.add("Gather", stacked, np.array(each.iteration))
    return [outputs[index] for index in range(op.get_output_size())]


def _add_condition(op: SubGraphOp, graph: GraphWriter, result: Result | None, running: str) -> None:
    """Add the output that says whether to continue: a scalar, by default true."""
    writer = NodeWriter(op, graph)
    value = running if result is None else graph.name_of(result.input_value(0))
    condition = writer.add("Reshape", value, np.array([], np.int64))
    writer.finish()
    graph.declare_output(condition, Parameter(Type.boolean, []))


def _part(node: NodeWriter, inner: NodeWriter, source: SliceInputDescription, value: str, iteration: str) -> str:
    """Return the slice of an input in an iteration."""
    axis, start = source.axis, source.start
    if start < 0:
        length = node.shape(source.input_index)[axis]
        if length is not None:
            start %= length
        elif source.stride > 0:
            raise NotInOnnx("slices that start before the end of a dynamic length")
    if source.stride < 0:
        start -= source.part_size - 1
    position = inner.add("Mul", iteration, np.array([source.stride]))
    begin = inner.add("Add", position, [start])
    if start >= 0 or source.stride > 0:
        end: Argument = inner.add("Add", begin, [source.part_size])
    else:  # counted from the end; the end of the last element is -1 + 1
        after = inner.add("Add", begin, [source.part_size])
        end = inner.add("Where", inner.add("Equal", after, [0]), [np.iinfo(np.int64).max], after)
    return inner.add("Slice", value, begin, end, [axis])


def _concatenated(node: NodeWriter, stacked: str, output: ConcatOutputDescription, result: Result) -> str:
    """Join the values of all iterations, ``[iterations, …]``, along an axis."""
    shape = result.output(0).partial_shape
    if not shape.has_rank:
        raise NotInOnnx("a result of unknown rank")
    axis, rank = output.axis % len(shape), len(shape)
    if output.stride < 0:
        stacked = node.add("Slice", stacked, [-1], [np.iinfo(np.int64).min], [0], [-1])
    if axis:
        stacked = node.transpose(stacked, [*range(1, axis + 1), 0, *range(axis + 1, rank + 1)])
    if shape[axis] == 1:
        return node.add("Squeeze", stacked, [axis + 1])
    lengths = node.add("Shape", stacked)
    before, after = (node.add("Slice", lengths, [a], [b]) for a, b in ((0, axis), (axis + 2, rank + 1)))
    return node.add("Reshape", stacked, node.add("Concat", before, [-1], after, axis=0))
