"""Loop and TensorIterator: the host runs the body once per iteration."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence

from hetero import ops
from hetero.core.containers import ContainerType
from hetero.core.tensor import Tensor
from hetero.ops.control_flow.bodies import (
    BodyOutputDescription,
    ConcatOutputDescription,
    MergedInputDescription,
    OutputDescription,
    SliceInputDescription,
)
from hetero.ops.control_flow.control_flow import SubGraphOp, part_count
from hetero.plugin import RemoteTensor
from hetero_opencl.device.transfers import on_host
from hetero_opencl.execute.host_steps.step import HostStep
from hetero_opencl.kernels.common.definition import runs_on_host


@runs_on_host(ops.Loop)
def loop(step: HostStep[ops.Loop], tensors: Sequence[Tensor]) -> list[Tensor]:
    trip_count, starts = (on_host(tensors[index]).item() for index in (0, 1))
    numbers: Iterable[int] = itertools.count() if trip_count < 0 else range(trip_count)
    return _LoopExecution(step, tensors, *step.node.get_special_body_ports()).run(numbers if starts else ())


@runs_on_host(ops.TensorIterator)
def tensor_iterator(step: HostStep[ops.TensorIterator], tensors: Sequence[Tensor]) -> list[Tensor]:
    slices = [d for d in step.node.get_input_descriptions() if isinstance(d, SliceInputDescription)]
    counts = {part_count(d, tensors[d.input_index].shape[d.axis]) for d in slices}
    if len(counts) != 1:
        step.fail(f"its sliced inputs must have the same number of slices, but have {sorted(counts) or 'none'}")
    return _LoopExecution(step, tensors).run(range(counts.pop()))


class _LoopExecution:
    """One execution of a Loop or TensorIterator."""

    def __init__(
        self, step: HostStep[SubGraphOp], tensors: Sequence[Tensor], iteration_port: int = -1, condition_port: int = -1
    ) -> None:
        node = step.node
        self._step, self._node, self._body = step, node, step.bodies[0]
        self._tensors = [
            tensor if isinstance(tensor.element_type, ContainerType) else step.on_device(index, tensor)
            for index, tensor in enumerate(tensors)
        ]
        self._iteration_port, self._condition_port = iteration_port, condition_port
        self._inputs = node.get_input_descriptions()
        self._slices = [d for d in self._inputs if isinstance(d, SliceInputDescription)]
        self._merged = [d for d in self._inputs if isinstance(d, MergedInputDescription)]
        # The results whose values are kept for every iteration.
        self._kept: dict[int, list[Tensor]] = {
            d.body_value_index: []
            for d in node.get_output_descriptions()
            if not isinstance(d, BodyOutputDescription) or d.iteration != -1
        }

    def run(self, numbers: Iterable[int]) -> list[Tensor]:
        """Run the body for each iteration number and return the node's outputs."""
        feed: dict[int, Tensor] = {d.body_parameter_index: self._tensors[d.input_index] for d in self._inputs}
        results: list[Tensor] | None = None
        # Double buffering: an iteration reads the results of the one before while it writes to the other set.
        written, read = self._step.results = self._step.results or (self._result_tensors(), self._result_tensors())
        is_number = self._iteration_port >= 0
        if is_number:
            feed[self._iteration_port] = self._number_tensor()
        for number in numbers:
            self._step.check()
            if is_number:
                feed[self._iteration_port].data[...] = number
            for part in self._slices:
                feed[part.body_parameter_index] = self._part(part, number)
            results, written, read = written, read, written
            for index in self._kept:
                results[index] = self._result_tensor(index)
            self._body.run([feed[index] for index in range(len(feed))], results, self._step.check)
            for merged in self._merged:
                feed[merged.body_parameter_index] = results[merged.body_value_index]
            for index, values in self._kept.items():
                values.append(results[index])
            if self._condition_port >= 0 and not results[self._condition_port].data.item():
                break
        return [self._output(description, results) for description in self._node.get_output_descriptions()]

    def _result_tensors(self) -> list[Tensor]:
        return [self._result_tensor(index) for index in range(len(self._node.body.results))]

    def _result_tensor(self, index: int) -> Tensor:
        """Return a tensor for a result of the body: on the device, except the condition and sequences."""
        kind = self._node.body.results[index].get_output_element_type(0)
        if index == self._condition_port or isinstance(kind, ContainerType):
            return Tensor(kind, [0])
        return self._step.context.create_tensor(kind, [0])

    def _number_tensor(self) -> Tensor:
        parameter = self._node.body.parameters[self._iteration_port]
        shape = (1,) * len(parameter.partial_shape) if parameter.partial_shape.has_rank else ()
        return Tensor(parameter.element_type, shape)

    def _part(self, description: SliceInputDescription, number: int) -> RemoteTensor:
        tensor = self._step.on_device(description.input_index, self._tensors[description.input_index])
        length = tensor.shape[description.axis]
        first = description.start % length + number * description.stride
        begin = first if description.stride > 0 else first - description.part_size + 1
        return self._step.part(tensor, description.axis, begin, begin + description.part_size)

    def _output(self, description: OutputDescription, results: Sequence[Tensor] | None) -> Tensor:
        index = description.body_value_index
        if isinstance(description, ConcatOutputDescription):
            values = self._kept[index]
            if not values:
                return self._empty_output(description)
            in_order = values if description.stride > 0 else values[::-1]
            return self._step.join(in_order, description.axis % len(values[0].shape))
        if isinstance(description, BodyOutputDescription) and description.iteration != -1:
            if not 0 <= description.iteration < len(self._kept[index]):
                count = len(self._kept[index])
                self._step.fail(f"there is no iteration {description.iteration}: its body ran {count} times")
            return self._kept[index][description.iteration]
        if results is not None:
            return results[index]
        initial = self._node.initial_input(index)
        if initial is None:
            self._step.fail(f"output {description.output_index} has no value, as its body ran zero times")
        return self._tensors[initial]

    def _empty_output(self, description: ConcatOutputDescription) -> Tensor:
        """Return the concatenated output of zero iterations; unknown dimensions are zero."""
        result = self._node.body.results[description.body_value_index].output(0)
        shape = [0]
        if result.partial_shape.has_rank:
            shape = [dimension.get_length() if dimension.is_static else 0 for dimension in result.partial_shape]
            shape[description.axis] = 0
        return self._step.context.create_tensor(result.element_type, shape)
