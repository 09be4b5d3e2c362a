"""If and loop operations from translated subgraphs, shared by the formats."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hetero import ops
from hetero.containers import ElementType
from hetero.errors import FrontendError
from hetero.frontend.subgraph import Body
from hetero.graph import Output, Parameter
from hetero.ops.bodies import widen
from hetero.ops.control_flow import SubGraphOp
from hetero.ops.port_maps import (
    BodyOutputDescription,
    InputDescription,
    InvariantInputDescription,
    OutputDescription,
)
from hetero.shape import PartialShape


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
