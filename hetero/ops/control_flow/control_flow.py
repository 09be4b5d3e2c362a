"""If, Loop and TensorIterator.

A node is created empty and connected with OpenVINO's methods: first the body, then the inputs, then the outputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hetero.core.containers import enclosing_type
from hetero.core.shape import Dimension, PartialShape, concatenate
from hetero.core.types import Type
from hetero.graph import Model, Node, Output, Parameter, Result
from hetero.graph.model import checked_model
from hetero.ops.checks import MAX_VALUE_SIZE, check_scalar_or_one, exact_number, exact_value, normalize_axis
from hetero.ops.control_flow.bodies import (
    BodyOutputDescription,
    ConcatOutputDescription,
    InputDescription,
    InvariantInputDescription,
    MergedInputDescription,
    MultiSubGraphOp,
    OutputDescription,
    SliceInputDescription,
    widen,
    widen_type,
)


class If(MultiSubGraphOp, opset=8):
    """Run one of two bodies, selected by a condition: a boolean scalar or a boolean tensor of one element.

    Each output has the element type of both bodies' results, and a shape that covers both of theirs.

    - ``execution_condition``: the condition.
    """

    input_names = ("execution_condition?",)
    shape_inputs = (0,)
    body_count = 2
    min_inputs = 1

    def set_then_body(self, body: Model) -> None:
        self.set_function(0, body)

    def set_else_body(self, body: Model) -> None:
        self.set_function(1, body)

    def get_then_body(self) -> Model:
        return self.bodies[0]

    def get_else_body(self) -> Model:
        return self.bodies[1]

    def set_function(self, index: int, func: Model) -> None:
        """Set a body: 0 runs if the condition is true, 1 if it is false."""
        self._check_body_index(index)
        self.bodies[index] = checked_model(func)

    def get_function(self, index: int) -> Model:
        self._check_body_index(index)
        return self.bodies[index]

    def _check_body_index(self, index: int) -> None:
        if index not in (0, 1):
            self.fail(f"it has the bodies 0 and 1, not {index}")

    def get_input_descriptions(self, index: int) -> list[InputDescription]:
        return self.input_descriptions[index]

    def set_input_descriptions(self, index: int, inputs: Sequence[InputDescription]) -> None:
        self.input_descriptions[index] = list(inputs)

    def get_output_descriptions(self, index: int) -> list[OutputDescription]:
        return self.output_descriptions[index]

    def set_output_descriptions(self, index: int, outputs: Sequence[OutputDescription]) -> None:
        """Set the outputs of a body; the number of outputs of the node follows."""
        self.output_descriptions[index] = list(outputs)
        self.set_output_size(max((d.output_index + 1 for d in outputs), default=0))

    def set_input(
        self, value: Output | Node, then_parameter: Parameter | None, else_parameter: Parameter | None
    ) -> None:
        """Connect a value to a Parameter of each body, or of one of them."""
        index = self._input_for(value)
        for body, parameter in enumerate((then_parameter, else_parameter)):
            if parameter is not None:
                parameter_index = self._index_of(self.bodies[body].parameters, parameter)
                self.input_descriptions[body].append(InvariantInputDescription(index, parameter_index))

    def set_output(self, then_result: Result, else_result: Result) -> Output:
        """Add an output that returns one Result of each body."""
        index = self.get_output_size()
        then_index = self._index_of(self.bodies[0].results, then_result)
        self.output_descriptions[0].append(BodyOutputDescription(then_index, index))
        else_index = self._index_of(self.bodies[1].results, else_result)
        return self._new_output(BodyOutputDescription(else_index, index), body=1)

    def check_inputs(self) -> None:
        if self.get_input_size():
            check_scalar_or_one(self, 0)
            if self.get_input_element_type(0) not in (Type.boolean, Type.dynamic):
                self.fail(f"the condition must be boolean, but is {self.get_input_element_type(0)}")

    @property
    def constant_body(self) -> int | None:
        """The index of the body that runs; None if the condition is not a known value."""
        condition = exact_value(self.input_value(0))
        return None if condition is None else int(not condition.reshape(-1)[0])

    def infer_bodies(self) -> None:
        # A body that never runs is skipped, as it may be invalid for the actual shapes.
        for body in range(2) if self.constant_body is None else [self.constant_body]:
            for description in self.input_descriptions[body]:
                self._feed(body, description)
            self.bodies[body].validate_nodes_and_infer_types()
        self._set_outputs(
            self._results_of(self.constant_body) if self.constant_body is not None else self._results_of_both()
        )

    def _results_of(self, body: int) -> dict[int, tuple[Any, ...]]:
        results = {d.output_index: self._result(body, d.body_value_index) for d in self.output_descriptions[body]}
        return {index: (result.element_type, result.partial_shape) for index, result in results.items()}

    def _results_of_both(self) -> dict[int, tuple[Any, ...]]:
        then_results, else_results = self._results_of(0), self._results_of(1)
        both = {}
        for index in then_results.keys() & else_results.keys():
            (then_type, then_shape), (else_type, else_shape) = then_results[index], else_results[index]
            element_type = enclosing_type(then_type, else_type)
            if element_type.is_dynamic() and then_type.is_static() and else_type.is_static():
                self.fail(f"output {index} is {then_type} in the then body but {else_type} in the else body")
            both[index] = element_type, then_shape.hull(else_shape)
        return both


class SubGraphOp(MultiSubGraphOp):
    """Base of the operations that run one body repeatedly."""

    # The inputs of the last shape inference, and the types and shapes that it gave the body's Parameters. If the inputs
    # have not changed, inference starts from these. Otherwise each level of nested bodies would infer the next one
    # twice, and the innermost of n levels would be inferred 2**n times.
    _last_inference: tuple[list[Any], list[Any]] = ([], [])

    def set_function(self, func: Model) -> None:
        self.bodies[0] = checked_model(func)

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
        """Set the outputs of the body; the number of outputs of the node follows."""
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
        """Pass one slice of the value to each iteration, see SliceInputDescription."""
        parameter_index = self._index_of(self.body.parameters, parameter)
        index = self._input_for(value)
        self.input_descriptions[0].append(
            SliceInputDescription(index, parameter_index, start, stride, part_size, end, axis)
        )

    def set_merged_input(
        self, body_parameter: Parameter, initial_value: Output | Node, successive_value: Output | Node
    ) -> None:
        """Pass a value to the first iteration, and the previous iteration's ``successive_value`` to each later one."""
        parameter = self._index_of(self.body.parameters, body_parameter)
        result = self._index_of(self.body.results, successive_value)
        self.input_descriptions[0].append(MergedInputDescription(self._input_for(initial_value), parameter, result))

    def set_invariant_input(self, body_parameter: Parameter, value: Output | Node) -> None:
        """Pass the same value to every iteration."""
        parameter = self._index_of(self.body.parameters, body_parameter)
        self.input_descriptions[0].append(InvariantInputDescription(self._input_for(value), parameter))

    def get_iter_value(self, body_value: Output | Node, iteration: int = -1) -> Output:
        """Add an output that returns the body's value in one iteration, -1 for the last."""
        result = self._index_of(self.body.results, body_value)
        return self._new_output(BodyOutputDescription(result, self.get_output_size(), iteration))

    def get_concatenated_slices(
        self, value: Output | Node, start: int, stride: int, part_size: int, end: int, axis: int
    ) -> Output:
        """Add an output that returns the body's values in all iterations, concatenated along an axis."""
        result = self._index_of(self.body.results, value)
        return self._new_output(
            ConcatOutputDescription(result, self.get_output_size(), start, stride, part_size, end, axis)
        )

    def get_num_iterations(self) -> int:
        """Return how often the body runs, -1 if that is not known."""
        raise NotImplementedError

    def may_not_run(self) -> bool:
        """Return whether the body may run zero times."""
        return self.get_num_iterations() <= 0

    def infer_bodies(self) -> None:
        for description in self.input_descriptions[0]:
            shape = self._slice_shape(description) if isinstance(description, SliceInputDescription) else None
            self._feed(0, description, shape)
        inputs = [(value.element_type, value.partial_shape, _value_key(value)) for value in self.input_values()]
        if inputs == self._last_inference[0]:
            for parameter, (element_type, shape) in zip(self.body.parameters, self._last_inference[1]):
                parameter.element_type, parameter.partial_shape = element_type, shape
        self.body.validate_nodes_and_infer_types()
        if self.get_num_iterations() not in (0, 1):
            while self._widen_parameters():
                self.body.validate_nodes_and_infer_types()
        self._last_inference = inputs, [(p.element_type, p.partial_shape) for p in self.body.parameters]
        self._set_outputs({d.output_index: self._output_type(d) for d in self.output_descriptions[0]})

    def _slice_shape(self, description: SliceInputDescription) -> PartialShape:
        shape = self.get_input_partial_shape(description.input_index)
        if not shape.has_rank:
            return shape
        axis = normalize_axis(self, description.axis, len(shape))
        return concatenate(shape[:axis], [description.part_size], shape[axis + 1 :])

    def _widen_parameters(self) -> bool:
        """Widen the Parameters of merged inputs to cover the body's results; return whether any changed."""
        changed = False
        for description in self.input_descriptions[0]:
            if not isinstance(description, MergedInputDescription):
                continue
            parameter = self.body.parameters[description.body_parameter_index]
            result = self._result(0, description.body_value_index)
            current = parameter.element_type, parameter.partial_shape
            widened = widen(*current, result.element_type, result.partial_shape)
            if widened is None:
                self.fail(
                    f"'{parameter.friendly_name}' is {parameter.element_type} in the first iteration, "
                    f"but {result.element_type} in the next"
                )
            if widened != current:
                parameter.element_type, parameter.partial_shape = widened
                changed = True
        return changed

    def _output_type(self, description: OutputDescription) -> tuple[Any, ...]:
        """Return the element type and shape of an output."""
        result = self._result(0, description.body_value_index)
        shape = result.partial_shape
        if isinstance(description, ConcatOutputDescription):
            return result.element_type, self._concatenated_shape(shape, description.axis)
        initial = self.initial_input(description.body_value_index)
        if initial is None or not self.may_not_run():
            return result.element_type, shape
        # If the body does not run, the output is the initial value.
        initial_shape = self.get_input_partial_shape(initial)
        element_type = widen_type(self.get_input_element_type(initial), result.element_type)
        return element_type, initial_shape if self.get_num_iterations() == 0 else shape.hull(initial_shape)

    def _concatenated_shape(self, shape: PartialShape, axis: int) -> PartialShape:
        if not shape.has_rank:
            return shape
        axis, count = normalize_axis(self, axis, len(shape)), self.get_num_iterations()
        length = Dimension() if count < 0 else shape[axis] * count
        return concatenate(shape[:axis], [length], shape[axis + 1 :])

    def initial_input(self, body_value_index: int) -> int | None:
        """Return the index of the input with the initial value of a loop-carried value, None if it has none."""
        for description in self.input_descriptions[0]:
            if isinstance(description, MergedInputDescription) and description.body_value_index == body_value_index:
                return description.input_index
        return None


class Loop(SubGraphOp, opset=5):
    """Run the body while a condition is true, at most ``trip_count`` times; a negative ``trip_count`` is no limit.

    Inputs: the trip count (i32 or i64) and the condition of the first iteration (boolean), each a scalar or a tensor
    of one element. ``special_body_ports``: the index of the body's parameter that receives the iteration number, and
    of the result that is the condition of the next iteration; -1 for none.

    - ``execution_condition``: whether the first iteration runs.
    """

    input_names = ("trip_count?", "execution_condition?")
    shape_inputs = (0, 1)
    min_inputs = 2

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        self._special_body_ports = (-1, -1)
        super().__init__(*arguments, **keywords)

    def set_special_body_ports(self, special_body_ports: Sequence[int]) -> None:
        """Set the index of the body's parameter for the iteration number and of its result for the condition."""
        iteration, condition = special_body_ports
        self._special_body_ports = int(iteration), int(condition)

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
        initial_condition, body_condition = exact_number(self.input_value(1)), self._body_condition()
        trip_count = exact_number(self.input_value(0))
        if initial_condition == 0 or trip_count == 0:
            return 0
        if initial_condition is None or body_condition is None or trip_count is None:
            return 1 if initial_condition and body_condition == 0 and trip_count is not None else -1
        if body_condition == 0:
            return 1
        return int(trip_count) if trip_count > 0 else -1

    def may_not_run(self) -> bool:
        initial_condition, trip_count = exact_number(self.input_value(1)), exact_number(self.input_value(0))
        return not initial_condition or trip_count is None or trip_count == 0

    def infer_bodies(self) -> None:
        if self._special_body_ports[0] >= 0:
            iteration = self._port(self.body.parameters, self._special_body_ports[0], "parameter")
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

    def _body_condition(self) -> int | None:
        result = self._special_body_ports[1]
        return 1 if result < 0 else exact_number(self._result(0, result))


class TensorIterator(SubGraphOp, opset=1):
    """Run the body once for each slice of the sliced inputs, which must have the same number of slices."""

    def set_body(self, body: Model) -> None:
        self.set_function(body)

    def get_body(self) -> Model:
        return self.get_function()

    def get_num_iterations(self) -> int:
        iterations = -1
        for description in self.input_descriptions[0]:
            if isinstance(description, SliceInputDescription):
                shape = self.get_input_partial_shape(description.input_index)
                if not shape.has_rank:
                    continue
                length = shape[normalize_axis(self, description.axis, len(shape))]
                if length.is_static:
                    count = part_count(description, length.get_length())
                    if iterations not in (-1, count):
                        self.fail(f"one sliced input has {iterations} parts, another {count}")
                    iterations = count
        return iterations


def part_count(description: SliceInputDescription, length: int) -> int:
    """Return the number of slices of an axis of this length."""
    first, last = (index % length if length else 0 for index in (description.start, description.end))
    if not length:
        return 0
    return (abs(last - first) + 1 - description.part_size) // max(1, abs(description.stride)) + 1


def _value_key(value: Output) -> tuple[Any, ...] | int:
    """Return a key for comparing the known contents of a value: its elements, or the id of a long array."""
    known = value.value
    return id(known) if known is None or known.size > MAX_VALUE_SIZE else tuple(known.reshape(-1).tolist())
