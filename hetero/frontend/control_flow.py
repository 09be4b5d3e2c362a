"""If and Loop from subgraphs, which formats have in the same way."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hetero import ops
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


def make_if(condition: Output, bodies: Sequence[Body]) -> ops.If:
    """The If of two bodies, the first for true, whose parameters are all for captured values."""
    captured = list(dict.fromkeys(value for body in bodies for value in body.captured))
    made = ops.If(condition)
    made.set_arguments([condition, *captured])
    for index, body in enumerate(bodies):
        places = [1 + captured.index(value) for value in body.captured]
        made.set_function(index, body.model)
        made.set_input_descriptions(index, [InvariantInputDescription(p, i) for i, p in enumerate(places)])
        made.set_output_descriptions(index, [BodyOutputDescription(i, i) for i in range(len(body.model.results))])
    made.infer()
    return made


def build_for_all_iterations(
    build: Callable[[list[Parameter]], Body], initial: Sequence[Output], first_result: int
) -> Body:
    """The body, translated for what the carried values are in every iteration, not only in the first.

    Translators may use shapes that are known, so where a value changes its shape the body is translated again.
    """
    kinds = [(value.element_type, value.partial_shape) for value in initial]
    while True:
        carried = [Parameter(*kind) for kind in kinds]
        body = build(carried)
        results = body.model.outputs[first_result : first_result + len(carried)]
        widened = [widen(*kind, result.element_type, result.partial_shape) for kind, result in zip(kinds, results)]
        for kind, wide, result in zip(kinds, widened, results):
            if wide is None:
                name = result.node.friendly_name.removesuffix("/result")
                raise FrontendError(f"'{name}' is {result.element_type}, but what it takes the place of is {kind[0]}")
        if widened == kinds:
            return body
        kinds = widened


def connect(
    made: SubGraphOp,
    body: Body,
    arguments: Sequence[Output],
    inputs: Sequence[InputDescription],
    outputs: Sequence[OutputDescription],
) -> SubGraphOp:
    """Give the node its body, arguments and ports, and besides what the body reads of the graph around it."""
    place = len(body.model.parameters) - len(body.captured)
    invariant = [
        InvariantInputDescription(len(arguments) + index, place + index) for index in range(len(body.captured))
    ]
    made.set_arguments([*arguments, *body.captured])
    made.set_function(body.model)
    made.set_input_descriptions([*inputs, *invariant])
    made.set_output_descriptions(outputs)
    made.infer()
    return made
