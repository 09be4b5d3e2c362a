"""If and loop operations from translated subgraphs, shared by the formats."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from hetero import ops
from hetero.core.containers import ElementType
from hetero.core.shape import Dimension, PartialShape
from hetero.frontend.translation.subgraph import Body, ModelScope, Subgraph, Value
from hetero.frontend.translation.values import int64, normalize_axis
from hetero.frontend.translation.variables import BodyVariables, Variables
from hetero.graph import Constant, Model, Output, Parameter
from hetero.ops.control_flow.bodies import (
    BodyOutputDescription,
    ConcatOutputDescription,
    InputDescription,
    InvariantInputDescription,
    MergedInputDescription,
    OutputDescription,
    SliceInputDescription,
    widen,
)
from hetero.ops.control_flow.control_flow import SubGraphOp
from hetero.system.errors import FrontendError


def make_if(condition: Output, bodies: Sequence[Body]) -> ops.If:
    """Return an If with a then body and an else body, whose parameters all stand for captured values."""
    captured = list(dict.fromkeys(value for body in bodies for value in body.captured))
    operation = ops.If(condition)
    operation.set_arguments([condition, *captured])
    for index, body in enumerate(bodies):
        inputs = [1 + captured.index(value) for value in body.captured]
        operation.set_function(index, body.model)
        operation.set_input_descriptions(index, [InvariantInputDescription(p, i) for i, p in enumerate(inputs)])
        operation.set_output_descriptions(index, [BodyOutputDescription(i, i) for i in range(len(body.model.results))])
    operation.infer()
    return operation


# Translates a branch into a Model under construction, from its inputs to its outputs.
Translate = Callable[[ModelScope, Variables, list[Value]], list[Value]]


class Branch(NamedTuple):
    """A branch of an If, and the names of its inputs."""

    translate: Translate
    input_names: Sequence[str]
    name: str = "body"


def translate_if(
    condition: Output, branches: Sequence[Branch], inputs: Sequence[Value], variables: Variables
) -> list[Value]:
    """Return the outputs of an If. A variable that either branch assigns becomes an output of both."""
    scopes = [ModelScope(), ModelScope()]
    own = [variables.in_body(scope) for scope in scopes]
    results = [
        branch.translate(scope, seen, [_entered(value, scope, name) for value, name in zip(inputs, branch.input_names)])
        for branch, scope, seen in zip(branches, scopes, own)
    ]
    if len(results[0]) != len(results[1]):
        raise FrontendError(f"its branches have {len(results[0])} and {len(results[1])} outputs")
    assigned = list(dict.fromkeys(name for seen in own for name in seen.assigned))
    bodies = []
    for branch, scope, seen, values in zip(branches, scopes, own, results):
        outputs = [*(value for value in values if isinstance(value, Output)), *(seen.read(name) for name in assigned)]
        bodies.append(Body(Model(outputs, list(scope.captured.values()), branch.name), list(scope.captured)))
    if len(bodies[0].model.results) != len(bodies[1].model.results):
        raise FrontendError("an output is a resource in only one of its branches")
    remaining = iter(make_if(condition, bodies).outputs() if bodies[0].model.results else [])
    values = [next(remaining) if isinstance(value, Output) else value for value in results[0]]
    for name in assigned:
        variables.assign(name, next(remaining))
    return values


def _entered(value: Value, scope: ModelScope, name: str) -> Value:
    """Return the value in a body that stands for a value outside: a tensor, or a resource of the format."""
    return scope.capture(value, name) if isinstance(value, Output) else value.captured(scope)


def build_loop_body(build: Callable[[list[Parameter]], Body], initial: Sequence[Output], first_result: int) -> Body:
    """Translate a loop body for carried values whose shapes hold in every iteration, not only in the first.

    ``build`` translates the body for the given carried values. Translators use known shapes, so a body that changes a
    carried shape is translated again with a wider shape, until the shapes no longer change. ``first_result``: the index
    of the first carried value among the body's results. Raises FrontendError if an element type changes.
    """
    types: list[tuple[ElementType, PartialShape]] = [(value.element_type, value.partial_shape) for value in initial]
    while True:
        carried = [Parameter(*type_and_shape) for type_and_shape in types]
        body = build(carried)
        results = body.model.outputs[first_result : first_result + len(carried)]
        widened = [_widen(kind, shape, result) for (kind, shape), result in zip(types, results)]
        if widened == types:
            return body
        types = widened


def _widen(kind: ElementType, shape: PartialShape, result: Output) -> tuple[ElementType, PartialShape]:
    """Return an element type and a shape that hold for a carried value and for the body's result that replaces it."""
    wide = widen(kind, shape, result.element_type, result.partial_shape)
    if wide is None:
        name = result.node.friendly_name.removesuffix("/result")
        raise FrontendError(f"loop body result '{name}' is {result.element_type}, but its initial value is {kind}")
    return wide


def connect(
    operation: SubGraphOp,
    body: Body,
    arguments: Sequence[Output],
    inputs: Sequence[InputDescription],
    outputs: Sequence[OutputDescription],
) -> SubGraphOp:
    """Set the body, arguments and port descriptions of a loop, and connect the values that its body captures."""
    first = len(body.model.parameters) - len(body.captured)
    captured = [InvariantInputDescription(len(arguments) + index, first + index) for index in range(len(body.captured))]
    operation.set_arguments([*arguments, *body.captured])
    operation.set_function(body.model)
    operation.set_input_descriptions([*inputs, *captured])
    operation.set_output_descriptions(outputs)
    operation.infer()
    return operation


def make_while(body: Body, enters: Output, initial: Sequence[Output]) -> SubGraphOp:
    """Return the Loop of a body that returns the condition for the next iteration, then the carried values.

    ``enters``: the condition for the first iteration.
    """
    no_limit = Constant(np.int64(-1)).output(0)
    loop = ops.Loop(no_limit, enters)
    loop.set_special_body_ports([-1, 0])
    return connect(
        loop,
        body,
        [no_limit, enters, *initial],
        [MergedInputDescription(2 + index, index, 1 + index) for index in range(len(initial))],
        [BodyOutputDescription(1 + index, index) for index in range(len(initial))],
    )


def translate_while(
    condition: Subgraph,
    step: Subgraph,
    inputs: Sequence[Value],
    carried: Sequence[int],
    variables: Variables,
    name: str,
    as_condition: Callable[[Value], Output] = lambda value: value,
    as_tensor: Callable[[Value], Output] = lambda value: value,
) -> list[Value]:
    """Return the outputs of a Loop, as many as there are inputs. Its body computes the next condition at its end.

    ``carried``: the indices of the inputs that iterations change. Variables that the body assigns become inputs and
    outputs of the Loop. ``name``: of the node. ``as_condition``, ``as_tensor``: check and convert the results of the
    condition and of the step.
    """
    enters = as_condition(condition.inline(inputs, f"{name}/condition")[0])
    initial = [inputs[index] for index in carried]
    own: BodyVariables

    def build(parameters: list[Parameter]) -> Body:
        nonlocal own
        scope = ModelScope()
        captured: dict[str, Parameter] = {}

        def capture(value: Output, name: str) -> Output:
            """Make a Parameter for a variable. Iterations may change it, so it has no known contents."""
            if isinstance(value.node, Constant):
                return scope.capture(value, name)
            captured[name] = scope.name(Parameter(value.element_type, value.partial_shape), name)
            return captured[name].output(0)

        own = variables.in_body(scope, capture)
        names = step.input_names
        values = [
            value if index in carried else _entered(value, scope, names[index]) for index, value in enumerate(inputs)
        ]
        for index, parameter in zip(carried, parameters):
            values[index] = scope.name(parameter, names[index]).output(0)
        values = step.translate_into(scope, own, values)
        (continues,) = condition.translate_into(scope, own, values, "condition/")
        assigned = own.assigned
        next_values = [as_tensor(values[index]) for index in carried]
        results = [as_condition(continues), *next_values, *(own.read(name) for name in assigned)]
        for name in assigned:
            value, _ = own.capture(name)
            # The first translation of a model has constants for variables, see build_model.
            captured.setdefault(name, scope.name(Parameter(value.element_type, value.partial_shape), name))
        read = [name for name in captured if name not in assigned]
        parameters = [*parameters, *(captured[name] for name in (*assigned, *read)), *scope.captured.values()]
        outer = [*(own.capture(name)[0] for name in read), *scope.captured]
        return Body(Model(results, parameters, step.name), outer)

    body = build_loop_body(build, initial, 1)
    initial += [own.capture(name)[0] for name in own.assigned]
    outputs = make_while(body, enters, initial).outputs()
    for name, value in zip(own.assigned, outputs[len(carried) :]):
        variables.assign(name, value)
    return [outputs[carried.index(index)] if index in carried else value for index, value in enumerate(inputs)]


def make_scan(
    graph: Subgraph,
    states: Sequence[Output],
    scanned: Sequence[Output],
    input_axes: Sequence[int],
    input_directions: Sequence[int],
    output_axes: Sequence[int],
    output_directions: Sequence[int],
    capture: Callable[[Output], Output] = lambda value: value,
) -> SubGraphOp:
    """Return the TensorIterator of a graph that is applied to one slice after the other of the ``scanned`` inputs.

    The graph takes the states and the slices, and returns the next states and the slices of the other outputs, along
    the axes given; a direction is 0 for forward, 1 for backward. ``capture``: maps a value that the body captures to
    the value in the Model that contains the TensorIterator.
    """

    def build(carried: list[Parameter]) -> Body:
        parts = [slice_parameter(value, axis) for value, axis in zip(scanned, input_axes)]
        items = [ops.Squeeze(part, int64([axis])) for part, axis in zip(parts, input_axes)]
        return graph.build([*carried, *items], [*carried, *parts])

    body = build_loop_body(build, states, 0)
    count = len(states)
    stack_results(body.model, {count + i: axis for i, axis in enumerate(output_axes)})
    inputs: list[InputDescription] = [MergedInputDescription(i, i, i) for i in range(count)]
    outputs: list[OutputDescription] = [BodyOutputDescription(i, i) for i in range(count)]
    for i, (axis, backward) in enumerate(zip(input_axes, input_directions), count):
        inputs.append(SliceInputDescription(i, i, *_slicing(backward), axis))
    for i, (axis, backward) in enumerate(zip(output_axes, output_directions), count):
        outputs.append(ConcatOutputDescription(i, i, *_slicing(backward), axis))
    body = Body(body.model, [capture(value) for value in body.captured])
    return connect(ops.TensorIterator(), body, [*states, *scanned], inputs, outputs)


def _slicing(backward: int) -> tuple[int, int, int, int]:
    """Return start, stride, part size and end of a port that goes along its axis forward or backward."""
    return (-1, -1, 1, 0) if backward else (0, 1, 1, -1)


def stack_results(model: Model, axes: Mapping[int, int]) -> None:
    """Add an axis of length 1 to results, given as {index: axis}, for the concatenation over all iterations."""
    for index, axis in axes.items():
        result = model.results[index]
        stacked = ops.Unsqueeze(result.input_value(0), int64([axis]), name=f"{result.friendly_name}/Unsqueeze")
        result.input(0).replace_source_output(stacked.output(0))
        result.infer()


def slice_parameter(value: Output, axis: int) -> Parameter:
    """Return a Parameter for a slice of length 1 along an axis."""
    shape = value.partial_shape
    if shape.has_rank:
        lengths: list[Dimension | int] = list(shape)
        lengths[normalize_axis(axis, len(shape))] = 1
        shape = PartialShape(lengths)
    return Parameter(value.element_type, shape)
