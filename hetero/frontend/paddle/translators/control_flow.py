"""Conditions, loops, and arrays of tensors. Both file forms are decoded to the same if and while."""

from __future__ import annotations

from collections.abc import Sequence

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.paddle.node_context import PaddleNodeContext, PaddleTranslation, rows, translator
from hetero.frontend.translation.control_flow import build_loop_body, make_if, make_while
from hetero.frontend.translation.subgraph import Body
from hetero.frontend.translation.translators import ConversionResult, Row
from hetero.frontend.translation.values import axis_length, convert_to, int64, normalize_axis, rank_of, transpose
from hetero.graph import Constant, Node, Output, Parameter
from hetero.ops.checks import exact_value
from hetero.system.errors import FrontendError


@translator("if")
def if_op(node: PaddleNodeContext) -> PaddleTranslation:
    condition = _as_boolean(node.get_input("Cond"))
    count = node.get_subgraph(0).output_count
    # A branch alone may set variables that have no value otherwise; nothing may read them after it.
    kept = [place for place in range(count) if not any(node.block_lacks(index, place) for index in (0, 1))]
    branches = [node.block_part(index, [], kept) for index in (0, 1)]
    known = exact_value(condition)
    if known is not None:
        values = branches[0 if known.item() else 1].inline([], node.name)
    else:
        values = make_if(condition, [branch.build([], []) for branch in branches]).outputs()
    return {"Out": _at(kept, values, count)}


@translator("while")
def while_op(node: PaddleNodeContext) -> PaddleTranslation:
    """A loop whose carried variables, and whose condition, its block sets anew.

    A variable without a value before the loop is not carried.
    """
    condition = _as_boolean(node.get_input("Condition"))
    variables = node.optional_tensors("X")
    kept = [place for place, value in enumerate(variables) if value is not None]
    carried = [value for value in variables if value is not None]
    graph = node.block_part(0, kept, [0, *(1 + place for place in kept)])

    def build(values: list[Parameter]) -> Body:
        body = graph.build(values, values)
        result = body.model.results[0]
        result.input(0).replace_source_output(_as_boolean(result.input_value(0)))
        result.infer()
        return body

    loop = make_while(build_loop_body(build, carried, 1), condition, carried)
    return {"Out": _at(kept, loop.outputs(), len(variables))}


def _at(places: Sequence[int], values: Sequence[Output], count: int) -> list[Output | None]:
    """Return ``count`` values of which only those at these places are given."""
    by_place = dict(zip(places, values))
    return [by_place.get(place) for place in range(count)]


@translator("select_input")
def select_input(node: PaddleNodeContext) -> ConversionResult:
    """The first value if the mask is 0, else the second."""
    # JSON programs have no list of the two.
    first, second = [*node.get_inputs("X"), *node.get_inputs("Y")]
    return ops.Select(_as_boolean(node.get_input("Mask")), second, first)


def _as_boolean(value: Output) -> Output:
    """Return a condition as a scalar."""
    value = convert_to(value, Type.boolean)
    return value if value.partial_shape == [] else ops.Reshape(value, int64([]), False).output(0)


rows(
    {
        "create_array": lambda node: Constant(node.output_variable().empty_array()),
        "read_from_array": lambda node: ops.Gather(
            node.get_input("X"), ops.Reshape(_index(node), int64([]), False), int64(0)
        ),
    }
)


@translator("write_to_array")
def write(node: PaddleNodeContext) -> ConversionResult:
    """Replace the element at an index, or append it."""
    array, value, index = node.get_input("Array"), node.get_input("X"), _index(node)
    after = ops.Add(index, int64([1]))
    count = axis_length(array, [0])
    rest = ops.Maximum(ops.Subtract(count, after), int64([0]))
    element = convert_to(value, array.element_type)
    parts = [
        _elements(array, int64([0]), index, index, element),
        ops.Unsqueeze(element, int64([0])),
        _elements(array, after, count, rest, element),
    ]
    return ops.Concat(parts, 0)


def _elements(array: Output, begin: Output | Node, end: Output | Node, count: Output | Node, like: Output) -> Node:
    """Return elements of an array, of which an empty one has no shape before the first element."""
    cut = ops.Slice(array, begin, end, int64([1]), int64([0]))
    return ops.Reshape(cut, ops.Concat([count, ops.ShapeOf(like)], 0), False)


@translator("tensor_array_to_tensor")
def join(node: PaddleNodeContext) -> ConversionResult:
    """Concatenate the elements along an axis, or stack them along a new one."""
    array = node.get_input("X")
    is_stack, rank = node.get_attribute("use_stack", False), rank_of(array)
    if rank < 2 and not is_stack:
        raise FrontendError("an array of scalars can be stacked, but not concatenated")
    axis = normalize_axis(node.get_attribute("axis", 0), rank if is_stack else rank - 1)
    stacked = transpose(array, [*range(1, axis + 1), 0, *range(axis + 1, rank)]) if axis else array
    if is_stack:
        return {"Out": stacked}
    joined = ops.ReduceProd(axis_length(stacked, [axis, axis + 1]), int64([0]), True)
    parts = [axis_length(stacked, range(axis)), joined, axis_length(stacked, range(axis + 2, rank))]
    return {"Out": ops.Reshape(stacked, ops.Concat(parts, 0), False)}


def _index(node: PaddleNodeContext) -> Output:
    return ops.Reshape(convert_to(node.get_input("I"), Type.i64), int64([1]), False).output(0)


rows({"lod_array_length": Row(lambda array: axis_length(array, [0]), "X")})
