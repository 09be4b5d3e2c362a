"""Arrays of tensors, which are one tensor with a first axis for the elements, all of the same shape."""

from __future__ import annotations

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.numerics.quantization import convert_to
from hetero.frontend.paddle.node_context import PaddleNodeContext
from hetero.frontend.paddle.registry import translator
from hetero.frontend.translation.translators import ConversionResult
from hetero.frontend.translation.values import axis_length, int64, normalize_axis, rank_of, transpose
from hetero.graph import Constant, Node, Output
from hetero.system.errors import FrontendError


@translator("create_array")
def create(node: PaddleNodeContext) -> ConversionResult:
    return Constant(node.output_variable().empty_array())


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


@translator("read_from_array")
def read(node: PaddleNodeContext) -> ConversionResult:
    return ops.Gather(node.get_input("X"), ops.Reshape(_index(node), int64([]), False), int64(0))


@translator("lod_array_length")
def length(node: PaddleNodeContext) -> ConversionResult:
    return axis_length(node.get_input("X"), [0])


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
