"""Calls of functions, and branches and loops whose bodies are functions: If, Case and While."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from hetero import ops
from hetero.core.shape import PartialShape
from hetero.core.types import Type
from hetero.frontend.tensorflow.decoded import Reference, TensorflowGraph, TensorflowNode, pass_through
from hetero.frontend.tensorflow.node_context import TensorflowNodeContext, Value, Values, translator
from hetero.frontend.tensorflow.translators.containers.tensor_lists import PendingList, with_element_shape
from hetero.frontend.tensorflow.translators.containers.unequal_lists import UnequalList, WithLengths
from hetero.frontend.translation.control_flow import Branch, Translate, translate_if, translate_while
from hetero.frontend.translation.subgraph import ModelScope, Subgraph
from hetero.frontend.translation.values import int64, scalar_like
from hetero.frontend.translation.variables import Variables
from hetero.graph import Output, Parameter, constant_array
from hetero.system.errors import FrontendError


@translator("PartitionedCall", "StatefulPartitionedCall", "RemoteCall")
def call(node: TensorflowNodeContext) -> Values:
    """Inline the function. The first input of RemoteCall is the name of a device."""
    inputs = node.get_values()
    return node.get_subgraph(0).inline(inputs[node.get_op_type() == "RemoteCall" :], node.name)


@translator("If", "StatelessIf")
def if_operator(node: TensorflowNodeContext) -> Values:
    condition, inputs = as_condition(node.get_input(0)), node.get_values()[1:]
    functions = [node.get_subgraph(0), node.get_subgraph(1)]
    known = constant_array(condition)
    if known is not None:
        return functions[0 if known.item() else 1].inline(inputs, node.name)
    return translate_if(condition, _branches(inputs, *(f.translate_into for f in functions)), inputs, node.variables)


@translator("Case", "StatelessCase")
def case(node: TensorflowNodeContext) -> Values:
    """Nested Ifs. An index out of range selects the last branch."""
    index, inputs = node.get_input(0), node.get_values()
    functions = [node.get_subgraph(number) for number in range(node.get_subgraph_size())]
    known = constant_array(index)
    if known is not None or len(functions) == 1:
        number = -1 if known is None else int(known.item())
        return functions[number if 0 <= number < len(functions) else -1].inline(inputs[1:], node.name)
    condition = ops.Equal(index, scalar_like(index, 0)).output(0)
    return translate_if(condition, _branches(inputs, *_cases(functions)), inputs, node.variables)


def _branches(inputs: Sequence[Value], *functions: Translate) -> list[Branch]:
    names = [f"input_{index}" for index in range(len(inputs))]
    return [Branch(_without_lists(function), names) for function in functions]


def _without_lists(function: Translate) -> Translate:
    def translate(scope: ModelScope, variables: Variables, values: list[Value]) -> list[Value]:
        results = function(scope, variables, values)
        if any(isinstance(result, UnequalList) for result in results):
            raise FrontendError("its branches return a list whose elements may have different lengths")
        return results

    return translate


def _cases(functions: Sequence[Subgraph]) -> tuple[Translate, Translate]:
    """Return the first function, and a branch that chooses among the others; the index is the branches' first input."""

    def first(scope: ModelScope, variables: Variables, values: list[Value]) -> list[Value]:
        return functions[0].translate_into(scope, variables, values[1:])

    def others(scope: ModelScope, variables: Variables, values: list[Value]) -> list[Value]:
        index = values[0]
        assert isinstance(index, Output)
        index = ops.Subtract(index, scalar_like(index, 1)).output(0)
        condition = ops.Equal(index, scalar_like(index, 0)).output(0)
        inputs = [index, *values[1:]]
        results = translate_if(condition, _branches(inputs, *_cases(functions[1:])), inputs, variables)
        scope.name_new_nodes([value for value in results if isinstance(value, Output)], "case")
        return results

    def last(scope: ModelScope, variables: Variables, values: list[Value]) -> list[Value]:
        return functions[1].translate_into(scope, variables, values[1:])

    return first, others if len(functions) > 2 else last


def as_condition(value: Output) -> Output:
    """Return a condition as a boolean scalar: a number is true unless zero, another tensor unless empty."""
    if value.partial_shape.has_rank and len(value.partial_shape) == 0:
        if value.element_type is Type.boolean:
            return value
        if value.element_type is not Type.string:
            return ops.NotEqual(value, scalar_like(value, 0)).output(0)
        raise FrontendError("a condition that is a string is not supported")
    if value.element_type is Type.boolean:
        return ops.Reshape(value, int64([]), False).output(0)
    count = ops.ReduceProd(ops.ShapeOf(value), int64([0]), False)
    return ops.NotEqual(count, int64(0)).output(0)


@translator("While", "StatelessWhile")
def while_operator(node: TensorflowNodeContext) -> Values:
    """Translate to a Loop. The condition is computed before the Loop and at the end of its body.

    Variables that the body assigns become inputs and outputs of the Loop.
    """
    return _loop(node, node.get_subgraph(0), node.get_subgraph(1), node.get_values())


@translator("For")
def for_operator(node: TensorflowNodeContext) -> Values:
    """Inputs: start, limit and delta of a number, and the other inputs of the body, which returns their next values."""
    name, others = node.get_subgraph(0).name, [f"value_{index}" for index in range(node.get_input_size() - 3)]
    inputs = ["number", "limit", "delta", *others]
    nodes = [
        *(TensorflowNode(argument, "_Arg") for argument in inputs),
        TensorflowNode("distance", "Sub", [Reference("limit"), Reference("number")]),
        TensorflowNode("sign", "Sign", [Reference("delta")]),
        TensorflowNode("remaining", "Mul", [Reference("distance"), Reference("sign")]),
        TensorflowNode("zero", "Const", attributes={"value": np.int32(0)}),
        TensorflowNode("continues", "Greater", [Reference("remaining"), Reference("zero")]),
        TensorflowNode("next", "AddV2", [Reference("number"), Reference("delta")]),
        TensorflowNode("results", name, [Reference("number"), *map(Reference, others)]),
    ]
    results = [Reference("results", index) for index in range(len(others))]
    by_name = {inner.name: inner for inner in nodes}
    condition = TensorflowGraph(f"{name}/condition", inputs, [Reference("continues")], by_name)
    step = TensorflowGraph(
        f"{name}/step", inputs, [Reference("next"), Reference("limit"), Reference("delta"), *results], by_name
    )
    values = _loop(node, node.subgraph_of(condition), node.subgraph_of(step), node.get_values())
    return values[3:]


def _loop(node: TensorflowNodeContext, condition: Subgraph, step: Subgraph, values: list[Value]) -> list[Value]:
    """Return the outputs of a loop: as many as there are values."""
    inputs = _with_element_shapes(step, values, node.variables)
    if step.output_count != len(inputs) or condition.output_count != 1:
        raise FrontendError(f"its body has {step.output_count} outputs and its condition {condition.output_count}")
    passed = _passed_inputs(step)
    lists = [index for index, value in enumerate(inputs) if isinstance(value, UnequalList) and index not in passed]
    functions = WithLengths(condition, lists, False), WithLengths(step, lists, True)
    inputs = functions[1].separated(inputs)
    carried = [index for index, value in enumerate(inputs) if isinstance(value, Output) and index not in passed]
    results = translate_while(
        *functions, inputs, carried, node.variables, node.name,
        as_condition=lambda value: as_condition(_tensor(value)), as_tensor=_tensor,
    )  # fmt: skip
    return functions[1].joined(results)


def _passed_inputs(step: Subgraph) -> set[int]:
    """Return the inputs of a loop body that it returns as they are."""
    assert isinstance(step.graph, TensorflowGraph)
    outputs = [pass_through(step.graph, reference).node for reference in step.graph.outputs]
    return {index for index, (name, output) in enumerate(zip(step.input_names, outputs)) if output == name}


def _tensor(value: Value) -> Output:
    if not isinstance(value, Output):
        raise FrontendError("its body returns a resource for a tensor, or a list that has no elements yet")
    return value


def _with_element_shapes(step: Subgraph, inputs: list[Value], variables: Variables) -> list[Value]:
    """Give lists of an unknown element shape that which the body's items have, by translating it once for that."""
    if not any(isinstance(value, PendingList) for value in inputs):
        return inputs
    scope = ModelScope()
    own = variables.in_body(scope)
    entered: list[Value] = []
    for value in inputs:
        if isinstance(value, Output):
            value = Parameter(value.element_type, value.partial_shape).output(0)
        elif isinstance(value, PendingList):
            value = replace(value, may_differ=False)
        entered.append(value)
    results = step.translate_into(scope, own, entered)
    return [
        with_element_shape(value, PartialShape(list(result.partial_shape)[1:]))
        if isinstance(value, PendingList) and isinstance(result, Output)
        else value
        for value, result in zip(inputs, results)
    ]
