"""If, Loop, TensorIterator, ReadValue and Assign. A body is prepared once as a Program and run many times."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Any, cast

import numpy as np

from hetero import ops
from hetero.ops.control_flow.bodies import (
    BodyOutputDescription,
    ConcatOutputDescription,
    MergedInputDescription,
    OutputDescription,
    SliceInputDescription,
)
from hetero.ops.control_flow.control_flow import SubGraphOp, part_count
from hetero.ops.control_flow.variables import AssignV3, ReadValueV3
from hetero.reference.output_sizes import specialized
from hetero.reference.program import Program
from hetero.reference.registry import Array, Run, Runner, prepares


@prepares(ops.If)
def if_op(node: ops.If) -> Runner:
    node.check_complete()
    branches: list[tuple[Program, list[int], list[int]]] = []
    for index, (inputs, outputs) in enumerate(zip(node.input_descriptions, node.output_descriptions)):
        body = node.get_function(index)
        sources = {description.body_parameter_index: description.input_index for description in inputs}
        results = {description.output_index: description.body_value_index for description in outputs}
        feeds = [sources[index] for index in range(len(body.parameters))]
        branches.append((Program(body), feeds, [results[index] for index in range(node.get_output_size())]))

    def run_node(run: Run, *arrays: Array) -> list[Array]:
        program, feeds, results = branches[0 if arrays[0].item() else 1]
        outputs = program.run([arrays[index] for index in feeds], run)
        return [outputs[index] for index in results]

    return run_node


@prepares(ops.Loop)
def loop(node: ops.Loop) -> Runner:
    body = _RepeatedBody(node, *node.get_special_body_ports())

    def run_node(run: Run, *arrays: Array) -> list[Array]:
        trip_count, condition = arrays[0].item(), arrays[1].item()
        iterations: Iterable[int] = itertools.count() if trip_count < 0 else range(trip_count)
        return body.run(iterations if condition else (), arrays, run)

    return run_node


@prepares(ops.TensorIterator)
def tensor_iterator(node: ops.TensorIterator) -> Runner:
    body = _RepeatedBody(node)
    slices = [d for d in node.get_input_descriptions() if isinstance(d, SliceInputDescription)]

    def run_node(run: Run, *arrays: Array) -> list[Array]:
        counts = {part_count(d, arrays[d.input_index].shape[d.axis]) for d in slices}
        if len(counts) != 1:
            raise ValueError(f"its sliced inputs must have the same number of parts, but have {sorted(counts) or 'no'}")
        return body.run(range(counts.pop()), arrays, run)

    return run_node


class _RepeatedBody:
    """The body of a Loop or TensorIterator, with its connections by index."""

    def __init__(self, node: SubGraphOp, iteration_port: int = -1, condition_port: int = -1) -> None:
        node.check_complete()
        self._node, self._program = node, Program(node.body)
        self._iteration_port, self._condition_port = iteration_port, condition_port
        if iteration_port >= 0:
            parameter = node.body.parameters[iteration_port]
            self._iteration_type = parameter.element_type.to_dtype()
            self._iteration_shape = (1,) * len(parameter.partial_shape) if parameter.partial_shape.has_rank else ()
        descriptions = node.get_input_descriptions()
        self._first = [(d.body_parameter_index, d.input_index) for d in descriptions]
        self._slices = [d for d in descriptions if isinstance(d, SliceInputDescription)]
        self._carried = [
            (d.body_parameter_index, d.body_value_index) for d in descriptions if isinstance(d, MergedInputDescription)
        ]
        self._outputs = sorted(node.get_output_descriptions(), key=lambda description: description.output_index)
        # The results whose values are kept for every iteration.
        self._kept = {
            d.body_value_index
            for d in self._outputs
            if not isinstance(d, BodyOutputDescription) or d.iteration != -1
        }  # fmt: skip

    def run(self, iterations: Iterable[int], arrays: Sequence[Array], run: Run) -> list[Array]:
        """Run the iterations as long as the body's condition is true, and return the outputs of the node."""
        feed: list[Any] = [None] * len(self._node.body.parameters)
        for parameter, index in self._first:
            feed[parameter] = arrays[index]
        kept: dict[int, list[Array]] = {index: [] for index in self._kept}
        results: Sequence[Array] = []
        for iteration in iterations:
            run.check_cancelled()
            if self._iteration_port >= 0:
                feed[self._iteration_port] = np.full(self._iteration_shape, iteration, self._iteration_type)
            for part in self._slices:
                feed[part.body_parameter_index] = _part(arrays[part.input_index], part, iteration)
            results = self._program.run(feed, run)
            for parameter, result in self._carried:
                feed[parameter] = results[result]
            for index, values in kept.items():
                values.append(results[index])
            if self._condition_port >= 0 and not results[self._condition_port]:
                break
        return [self._output(description, arrays, results, kept) for description in self._outputs]

    def _output(
        self,
        description: OutputDescription,
        arrays: Sequence[Array],
        results: Sequence[Array],
        kept: dict[int, list[Array]],
    ) -> Array:
        index = description.body_value_index
        if isinstance(description, ConcatOutputDescription):
            values = kept[index]
            if not values:
                return self._empty_concatenation(description, arrays)
            return np.concatenate(values if description.stride > 0 else values[::-1], description.axis)
        if isinstance(description, BodyOutputDescription) and description.iteration != -1:
            number, values = description.iteration, kept[index]
            if not 0 <= number < len(values):
                raise ValueError(f"there is no iteration {number}: its body ran {len(values)} times")
            return values[number]
        if results:
            return results[index]
        initial = self._node.initial_input(index)
        if initial is None:
            raise ValueError(f"output {description.output_index} has no value, as its body ran zero times")
        return arrays[initial]

    def _empty_concatenation(self, description: ConcatOutputDescription, arrays: Sequence[Array]) -> Array:
        """Return the concatenation over zero iterations; lengths that do not follow from those of the inputs are 0."""
        node = specialized(self._node, arrays)
        result = cast(SubGraphOp, node).body.results[description.body_value_index].output(0)
        dtype = None if result.element_type.is_dynamic() else result.element_type.to_dtype()
        if not result.partial_shape.has_rank:
            return np.empty(0, dtype)
        shape = [dimension.get_length() if dimension.is_static else 0 for dimension in result.partial_shape]
        shape[description.axis] = 0
        return np.empty(shape, dtype)


def _part(array: Array, description: SliceInputDescription, iteration: int) -> Array:
    length = array.shape[description.axis]
    first = description.start % length + iteration * description.stride
    begin = first if description.stride > 0 else first - description.part_size + 1
    index: list[slice] = [slice(None)] * array.ndim
    index[description.axis] = slice(begin, begin + description.part_size)
    return array[tuple(index)]


@prepares(ReadValueV3, ops.ReadValue)
def read_value(node: ops.ReadValue) -> Runner:
    name, output, shape = node.variable_id, node.output(0), node.get_output_partial_shape(0)

    def run_node(run: Run, *arrays: Array) -> Array:
        if name in run.variables:
            contents = run.variables[name]
            if not shape.admits(contents.shape):
                raise ValueError(f"variable '{name}' contains {list(contents.shape)}, not {shape}")
            return contents.view()  # so that no result that owns its memory is a variable
        if arrays:
            return arrays[0]
        return np.zeros([d.min_length for d in output.partial_shape], output.element_type.to_dtype())

    return run_node


@prepares(AssignV3, ops.Assign)
def assign(node: ops.Assign) -> Runner:
    def run_node(run: Run, array: Array) -> Array:
        return array  # the program sets the variable when its run ends

    return run_node
