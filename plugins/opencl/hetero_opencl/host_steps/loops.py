"""Loop and TensorIterator: bodies that the host runs again and again."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence

import numpy as np

from hetero import ops
from hetero.containers import ContainerType
from hetero.ops.control_flow import SubGraphOp, part_count
from hetero.ops.port_maps import (
    BodyOutputDescription,
    ConcatOutputDescription,
    OutputDescription,
    SliceInputDescription,
)
from hetero.plugin import RemoteTensor
from hetero.tensor import Tensor
from hetero_opencl.host_steps.step import HostStep
from hetero_opencl.kernels.registry import runs_on_host
from hetero_opencl.transfers import on_host


@runs_on_host(ops.Loop)
def loop(step: HostStep, tensors: list[Tensor]) -> list[Tensor]:
    trip_count, starts = (on_host(tensors[index]).item() for index in (0, 1))
    numbers: Iterable[int] = itertools.count() if trip_count < 0 else range(trip_count)
    return _Repetition(step, tensors, *step.node.get_special_body_ports()).run(numbers if starts else ())


@runs_on_host(ops.TensorIterator)
def tensor_iterator(step: HostStep, tensors: list[Tensor]) -> list[Tensor]:
    slices = [d for d in step.node.get_input_descriptions() if isinstance(d, SliceInputDescription)]
    counts = {part_count(d, tensors[d.input_index].shape[d.axis]) for d in slices}
    if len(counts) != 1:
        step.fail(f"its sliced inputs have {sorted(counts) or 'no'} parts, but must have equally many")
    return _Repetition(step, tensors).run(range(counts.pop()))


class _Repetition:
    """One run of a node that runs its body again and again."""

    def __init__(
        self, step: HostStep, tensors: Sequence[Tensor], iteration_port: int = -1, condition_port: int = -1
    ) -> None:
        node: SubGraphOp = step.node
        self._step, self._node, self._body = step, node, step.bodies[0]
        self._tensors = [
            tensor if isinstance(tensor.element_type, ContainerType) else step.on_device(index, tensor)
            for index, tensor in enumerate(tensors)
        ]
        self._iteration_port, self._condition_port = iteration_port, condition_port
        self._inputs = node.get_input_descriptions()
        self._slices = [d for d in self._inputs if isinstance(d, SliceInputDescription)]
        self._carried = {
            d.body_parameter_index: d.body_value_index for d in self._inputs if hasattr(d, "body_value_index")
        }
        outputs = node.get_output_descriptions()
        self._kept: dict[int, list[Tensor]] = {
            d.body_value_index: []
            for d in outputs
            if isinstance(d, ConcatOutputDescription) or (isinstance(d, BodyOutputDescription) and d.iteration != -1)
        }

    def run(self, numbers: Iterable[int]) -> list[Tensor]:
        feed: dict[int, Tensor] = {d.body_parameter_index: self._tensors[d.input_index] for d in self._inputs}
        results: list[Tensor] | None = None
        spare: list[Tensor] | None = None
        for number in numbers:
            self._step.check()
            if self._iteration_port >= 0:
                feed[self._iteration_port] = self._number(number)
            for part in self._slices:
                feed[part.body_parameter_index] = self._part(part, number)
            # What an iteration made is read by the next one, while that makes what goes elsewhere.
            results, spare = self._places(spare), results
            self._body.run([feed[index] for index in range(len(feed))], results, self._step.check)
            for parameter, result in self._carried.items():
                feed[parameter] = results[result]
            for index, values in self._kept.items():
                values.append(results[index])
            if self._condition_port >= 0 and not results[self._condition_port].data.item():
                break
        return [self._output(description, results) for description in self._node.get_output_descriptions()]

    def _places(self, used: list[Tensor] | None) -> list[Tensor]:
        """A tensor for each result: one used before, unless that is kept; the condition is for the host to see."""
        places = []
        for index, result in enumerate(self._node.body.results):
            kind = result.get_output_element_type(0)
            if index == self._condition_port or isinstance(kind, ContainerType):
                places.append(Tensor(kind, [0]))
            elif used is None or index in self._kept:
                places.append(self._step.new_tensor(kind, [0]))
            else:
                places.append(used[index])
        return places

    def _number(self, number: int) -> Tensor:
        parameter = self._node.body.parameters[self._iteration_port]
        shape = (1,) * len(parameter.partial_shape) if parameter.partial_shape.has_rank else ()
        return Tensor(np.full(shape, number, parameter.element_type.to_dtype()))

    def _part(self, description: SliceInputDescription, number: int) -> RemoteTensor:
        tensor = self._tensors[description.input_index]
        length = tensor.shape[description.axis]
        first = description.start % length + number * description.stride
        begin = first if description.stride > 0 else first - description.part_size + 1
        return self._step.part(tensor, description.axis, begin, begin + description.part_size)

    def _output(self, description: OutputDescription, results: Sequence[Tensor] | None) -> Tensor:
        index = description.body_value_index
        if isinstance(description, ConcatOutputDescription):
            values = self._kept[index]
            return self._join(description, values if description.stride > 0 else values[::-1])
        if description.iteration != -1:
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

    def _join(self, description: ConcatOutputDescription, values: Sequence[Tensor]) -> Tensor:
        if not values:
            return self._nothing(description)
        return self._step.join(values, description.axis % len(values[0].shape))

    def _nothing(self, description: ConcatOutputDescription) -> Tensor:
        """The parts of no iteration joined: of the lengths that are known, and zero where one is not."""
        result = self._node.body.results[description.body_value_index].output(0)
        shape = [0]
        if result.partial_shape.has_rank:
            shape = [dimension.get_length() if dimension.is_static else 0 for dimension in result.partial_shape]
            shape[description.axis] = 0
        return self._step.new_tensor(result.element_type, shape)
