"""If, Loop and TensorIterator.

A node is made empty and connected step by step, by OpenVINO's methods: the body first, then the inputs, then the
outputs.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hetero.containers import enclosing_type
from hetero.graph import Model, Node, Output, Parameter, Result
from hetero.ops.bodies import MultiSubGraphOp, widen, widen_type
from hetero.ops.checks import check_scalar_or_one, normalize_axis
from hetero.ops.port_maps import (
    BodyOutputDescription,
    ConcatOutputDescription,
    InputDescription,
    InvariantInputDescription,
    MergedInputDescription,
    OutputDescription,
    SliceInputDescription,
)
from hetero.ops.values import LONGEST_VALUE, exact_value
from hetero.shape import Dimension, PartialShape, concatenate
from hetero.types import Type


class If(MultiSubGraphOp, opset=8):
    """One of two bodies, by a condition: a boolean scalar or a tensor of one element."""

    inputs = ("execution_condition?",)
    shape_inputs = (0,)
    body_count = 2
    least_inputs = 1

    def set_then_body(self, body: Model) -> None:
        self.bodies[0] = body

    def set_else_body(self, body: Model) -> None:
        self.bodies[1] = body

    def get_then_body(self) -> Model:
        return self.bodies[0]

    def get_else_body(self) -> Model:
        return self.bodies[1]

    def set_function(self, index: int, body: Model) -> None:
        """Set a body: 0 is run where the condition holds, 1 where it does not."""
        self.bodies[index] = body

    def get_function(self, index: int) -> Model:
        return self.bodies[index]

    def get_input_descriptions(self, index: int) -> list[InputDescription]:
        return self.input_descriptions[index]

    def set_input_descriptions(self, index: int, inputs: Sequence[InputDescription]) -> None:
        self.input_descriptions[index] = list(inputs)

    def get_output_descriptions(self, index: int) -> list[OutputDescription]:
        return self.output_descriptions[index]

    def set_output_descriptions(self, index: int, outputs: Sequence[OutputDescription]) -> None:
        """Set what a body makes; the node gets as many outputs."""
        self.output_descriptions[index] = list(outputs)
        self.set_output_size(max((d.output_index + 1 for d in outputs), default=0))

    def set_input(
        self, value: Output | Node, then_parameter: Parameter | None, else_parameter: Parameter | None
    ) -> None:
        """Feed a value to a Parameter of each body, or of one."""
        index = self._input_for(value)
        for body, parameter in enumerate((then_parameter, else_parameter)):
            if parameter is not None:
                place = self._index_of(self.bodies[body].parameters, parameter)
                self.input_descriptions[body].append(InvariantInputDescription(index, place))

    def set_output(self, then_result: Result, else_result: Result) -> Output:
        """A new output, which either Result makes."""
        index = self.get_output_size()
        then_place = self._index_of(self.bodies[0].results, then_result)
        self.output_descriptions[0].append(BodyOutputDescription(then_place, index))
        place = self._index_of(self.bodies[1].results, else_result)
        return self._new_output(BodyOutputDescription(place, index), body=1)

    def check_inputs(self) -> None:
        if self.get_input_size():
            check_scalar_or_one(self, 0)
            if self.get_input_element_type(0) not in (Type.boolean, Type.dynamic):
                self.fail(f"the condition must be boolean, but is {self.get_input_element_type(0)}")

    @property
    def known_body(self) -> int | None:
        """The index of the body that runs, where the condition is known already."""
        condition = exact_value(self.input_value(0))
        return None if condition is None else int(not condition.reshape(-1)[0])

    def infer_bodies(self) -> None:
        # A body that never runs may be one that does not fit the shapes at hand.
        for body in range(2) if self.known_body is None else [self.known_body]:
            for description in self.input_descriptions[body]:
                self._feed(body, description)
            self.bodies[body].validate_nodes_and_infer_types()
        self._set_outputs(self._results_of(self.known_body) if self.known_body is not None else self._results_of_both())

    def _results_of(self, body: int) -> dict[int, tuple]:
        results = {d.output_index: self._result(body, d.body_value_index) for d in self.output_descriptions[body]}
        return {index: (result.element_type, result.partial_shape) for index, result in results.items()}

    def _results_of_both(self) -> dict[int, tuple]:
        then, otherwise = self._results_of(0), self._results_of(1)
        both = {}
        for index in then.keys() & otherwise.keys():
            (first, shape), (second, other_shape) = then[index], otherwise[index]
            kind = enclosing_type(first, second)
            if kind.is_dynamic() and first.is_static() and second.is_static():
                self.fail(f"output {index} is {first} of one body but {second} of the other")
            both[index] = kind, shape.hull(other_shape)
        return both


class SubGraphOp(MultiSubGraphOp):
    """Base of the operations that run one body again and again."""

    # What was known of the inputs at the last inference, and the types and shapes of the body's Parameters that this
    # led to. Where nothing has changed it begins with these: each level of bodies within bodies would otherwise infer
    # the next one twice, and n levels the innermost one 2**n times.
    _last_inference: tuple[list, list] = ([], [])

    def set_function(self, body: Model) -> None:
        self.bodies[0] = body

    def get_function(self) -> Model:
        return self.bodies[0]

    @property
    def body(self) -> Model:
        return self.bodies[0]

    def get_input_descriptions(self) -> list[InputDescription]:
        return self.input_descriptions[0]

    def set_input_descriptions(self, inputs: Sequence[InputDescription]) -> None:
        self.input_descriptions[0] = list(inputs)

    def get_output_descriptions(self) -> list[OutputDescription]:
        return self.output_descriptions[0]

    def set_output_descriptions(self, outputs: Sequence[OutputDescription]) -> None:
        """Set what the body makes; the node gets as many outputs."""
        self.output_descriptions[0] = list(outputs)
        self.set_output_size(max((d.output_index + 1 for d in outputs), default=0))

    def set_sliced_input(
        self,
        parameter: Parameter,
        value: Output | Node,
        start: int,
        stride: int,
        part_size: int,
        end: int,
        axis: int,
    ) -> None:
        """Feed a part of the value to each iteration, as SliceInputDescription says."""
        place = self._index_of(self.body.parameters, parameter)
        index = self._input_for(value)
        self.input_descriptions[0].append(
            SliceInputDescription(index, place, start, stride, part_size, end, axis)
        )  # fmt: skip

    def set_merged_input(
        self, body_parameter: Parameter, initial_value: Output | Node, successive_value: Output | Node
    ) -> None:
        """Feed a value to the first iteration, and to the others what the body hands out as ``successive_value``."""
        place = self._index_of(self.body.parameters, body_parameter)
        result = self._index_of(self.body.results, successive_value)
        self.input_descriptions[0].append(MergedInputDescription(self._input_for(initial_value), place, result))

    def set_invariant_input(self, body_parameter: Parameter, value: Output | Node) -> None:
        """Feed the same value to every iteration."""
        place = self._index_of(self.body.parameters, body_parameter)
        self.input_descriptions[0].append(InvariantInputDescription(self._input_for(value), place))

    def get_iter_value(self, body_value: Output | Node, iteration: int = -1) -> Output:
        """A new output: what the body hands out in an iteration, -1 for the last."""
        result = self._index_of(self.body.results, body_value)
        return self._new_output(BodyOutputDescription(result, self.get_output_size(), iteration))

    def get_concatenated_slices(
        self, value: Output | Node, start: int, stride: int, part_size: int, end: int, axis: int
    ) -> Output:
        """A new output: what the body hands out in all iterations, joined along an axis."""
        result = self._index_of(self.body.results, value)
        return self._new_output(
            ConcatOutputDescription(result, self.get_output_size(), start, stride, part_size, end, axis)
        )

    def get_num_iterations(self) -> int:
        """How often the body runs, -1 while that is not known."""
        raise NotImplementedError

    def may_not_run(self) -> bool:
        """Whether the body may run zero times."""
        return self.get_num_iterations() <= 0

    def infer_bodies(self) -> None:
        for description in self.input_descriptions[0]:
            shape = self._part_of(description) if isinstance(description, SliceInputDescription) else None
            self._feed(0, description, shape)
        known = [(value.element_type, value.partial_shape, _contents(value)) for value in self.input_values()]
        if known == self._last_inference[0]:
            for parameter, (element_type, shape) in zip(self.body.parameters, self._last_inference[1]):
                parameter.element_type, parameter.partial_shape = element_type, shape
        self.body.validate_nodes_and_infer_types()
        if self.get_num_iterations() not in (0, 1):
            while self._widen_parameters():
                self.body.validate_nodes_and_infer_types()
        self._last_inference = known, [(p.element_type, p.partial_shape) for p in self.body.parameters]
        found = {d.output_index: self._made(d) for d in self.output_descriptions[0]}
        self._set_outputs(found)

    def _part_of(self, description: SliceInputDescription) -> PartialShape:
        shape = self.get_input_partial_shape(description.input_index)
        if not shape.has_rank:
            return shape
        axis = normalize_axis(self, description.axis, len(shape))
        return concatenate(shape[:axis], [description.part_size], shape[axis + 1 :])

    def _widen_parameters(self) -> bool:
        """Let the Parameters of carried values hold what the iteration before hands over; whether that changed one."""
        changed = False
        for description in self.input_descriptions[0]:
            if not isinstance(description, MergedInputDescription):
                continue
            parameter = self.body.parameters[description.body_parameter_index]
            back = self._result(0, description.body_value_index)
            before = parameter.element_type, parameter.partial_shape
            widened = widen(*before, back.element_type, back.partial_shape)
            if widened is None:
                begins = f"'{parameter.friendly_name}' begins as {parameter.element_type}"
                self.fail(f"{begins}, but the body makes {back.element_type} of it")
            if widened != before:
                parameter.element_type, parameter.partial_shape = widened
                changed = True
        return changed

    def _made(self, description: OutputDescription) -> tuple:
        result = self._result(0, description.body_value_index)
        shape = result.partial_shape
        if isinstance(description, ConcatOutputDescription):
            return result.element_type, self._joined(shape, description.axis)
        initial = self.initial_input(description.body_value_index)
        if initial is None or not self.may_not_run():
            return result.element_type, shape
        before = self.get_input_partial_shape(initial)
        kind = widen_type(self.get_input_element_type(initial), result.element_type)
        return kind, before if self.get_num_iterations() == 0 else shape.hull(before)

    def _joined(self, shape: PartialShape, axis: int) -> PartialShape:
        if not shape.has_rank:
            return shape
        axis, count = normalize_axis(self, axis, len(shape)), self.get_num_iterations()
        length = Dimension() if count < 0 else shape[axis] * count
        return concatenate(shape[:axis], [length], shape[axis + 1 :])

    def initial_input(self, body_value_index: int) -> int | None:
        """The input that a value handed from iteration to iteration begins with."""
        for description in self.input_descriptions[0]:
            if isinstance(description, MergedInputDescription) and description.body_value_index == body_value_index:
                return description.input_index
        return None


class Loop(SubGraphOp, opset=5):
    """Runs the body while a condition holds, at most ``trip_count`` times, where that is not negative.

    ``special_body_ports``: the index of the body's parameter that is given the number of the iteration, and of the
    result that is the condition of the next one; -1 for none.
    """

    inputs = ("trip_count?", "execution_condition?")
    shape_inputs = (0, 1)
    least_inputs = 2

    def __init__(self, *arguments, **keywords) -> None:
        self._special_body_ports = (-1, -1)
        super().__init__(*arguments, **keywords)

    def set_special_body_ports(self, special_body_ports: Sequence[int]) -> None:
        """Set the index of the body's parameter of the iteration, and of the result that is the condition."""
        self._special_body_ports = tuple(int(port) for port in special_body_ports)

    def get_special_body_ports(self) -> list[int]:
        return list(self._special_body_ports)

    def check_inputs(self) -> None:
        for index in range(min(2, self.get_input_size())):
            check_scalar_or_one(self, index)
        if self.get_input_size() > 0 and self.get_input_element_type(0) not in (Type.i32, Type.i64, Type.dynamic):
            self.fail(f"the trip count must be i32 or i64, but is {self.get_input_element_type(0)}")
        if self.get_input_size() > 1 and self.get_input_element_type(1) not in (Type.boolean, Type.dynamic):
            self.fail(f"the condition must be boolean, but is {self.get_input_element_type(1)}")

    def fed_parameters(self) -> list[set[int]]:
        (fed,) = super().fed_parameters()
        return [fed | {self._special_body_ports[0]}]

    def get_num_iterations(self) -> int:
        if self.get_input_size() < 2:
            return -1
        first, again = _scalar(self.input_value(1)), self._condition_of_body()
        trip_count = _scalar(self.input_value(0))
        if first == 0 or trip_count == 0:
            return 0
        if first is None or again is None or trip_count is None:
            return 1 if first and again == 0 and trip_count is not None else -1
        if again == 0:
            return 1
        return int(trip_count) if trip_count > 0 else -1

    def may_not_run(self) -> bool:
        starts, trip_count = _scalar(self.input_value(1)), _scalar(self.input_value(0))
        return not starts or trip_count is None or trip_count == 0

    def infer_bodies(self) -> None:
        place = self._special_body_ports[0]
        if place >= 0:
            iteration = self._port(self.body.parameters, place, "parameter")
            iteration.known_value = None
            if iteration.element_type.is_dynamic():
                iteration.element_type = Type.i64
        super().infer_bodies()
        if self._special_body_ports[1] >= 0:
            condition = self._result(0, self._special_body_ports[1])
            if condition.element_type not in (Type.boolean, Type.dynamic):
                self.fail(f"the body's condition must be boolean, but is {condition.element_type}")
            if not any(condition.partial_shape.compatible(shape) for shape in ([], [1])):
                self.fail(f"the body's condition must be a scalar, but has the shape {condition.partial_shape}")

    def _condition_of_body(self) -> int | None:
        place = self._special_body_ports[1]
        return 1 if place < 0 else _scalar(self._result(0, place))


class TensorIterator(SubGraphOp, opset=1):
    """Runs the body once for each part of its sliced inputs, which must have equally many."""

    def set_body(self, body: Model) -> None:
        self.bodies[0] = body

    def get_body(self) -> Model:
        return self.bodies[0]

    def get_num_iterations(self) -> int:
        found = -1
        for description in self.input_descriptions[0]:
            if isinstance(description, SliceInputDescription):
                shape = self.get_input_partial_shape(description.input_index)
                if not shape.has_rank:
                    continue
                length = shape[normalize_axis(self, description.axis, len(shape))]
                if length.is_static:
                    count = part_count(description, length.get_length())
                    if found not in (-1, count):
                        self.fail(f"one sliced input has {found} parts, another {count}")
                    found = count
        return found


def part_count(description: SliceInputDescription, length: int) -> int:
    """The number of parts that lie in an axis of this length."""
    first, last = (place % length if length else 0 for place in (description.start, description.end))
    if not length:
        return 0
    return (abs(last - first) + 1 - description.part_size) // max(1, abs(description.stride)) + 1


def _contents(value: Output) -> tuple | int:
    """Return what tells the known contents of a value from others: the numbers, or the identity of a long array."""
    short = value.value is not None and value.value.size <= LONGEST_VALUE
    return tuple(value.value.reshape(-1).tolist()) if short else id(value.value)


def _scalar(value: Output) -> int | None:
    """The one number of a value where it is known."""
    known = exact_value(value)
    return None if known is None or known.size != 1 else int(np.reshape(known, -1)[0])
