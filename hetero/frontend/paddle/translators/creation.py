"""Constants, ranges and tensors filled with one number."""

from __future__ import annotations

import math

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.numerics.diagonals import diagonal_of, triangle
from hetero.frontend.numerics.spacing import linspace
from hetero.frontend.paddle.node_context import PaddleNodeContext, rows, translator
from hetero.frontend.translation.translators import ConversionResult
from hetero.frontend.translation.values import axis_length, convert_to, int64, known_length, rank_of
from hetero.graph import Constant, Output
from hetero.ops.checks import exact_value
from hetero.system.errors import FrontendError

# Maximum number of elements of a tensor that the program fills.
_MAX_FILLED = 1 << 28
# Maximum number of elements of a constant that its translator computes.
MAX_COMPUTED = 1 << 24


def filled(number: Output, shape: Output) -> ConversionResult:
    """Return a scalar in a shape. Raises FrontendError for a known shape of an absurd size."""
    known = exact_value(shape)
    if known is None:
        return ops.Broadcast(number, shape)
    lengths = [int(length) for length in known.reshape(-1)]
    if any(length < 0 for length in lengths) or math.prod(lengths) > _MAX_FILLED or len(lengths) > 64:
        raise FrontendError(f"a tensor of shape {lengths} cannot be filled")
    if isinstance(number.node, Constant):
        # A view of one element.
        return Constant(np.broadcast_to(number.node.data, lengths))
    return ops.Broadcast(number, shape)


@translator("fill_constant")
def fill_constant(node: PaddleNodeContext) -> ConversionResult:
    kind = node.type_attribute("dtype") or node.output_variable().element_type
    shape = node.integers("shape", "ShapeTensor", "ShapeTensorList", default=[])
    return filled(_number(node, kind), shape)


def _number(node: PaddleNodeContext, kind: Type) -> Output:
    text = node.get_attribute("str_value", "")
    if node.has_input("ValueTensor") or not text:
        return node.scalar("value", "ValueTensor", kind, 0.0)
    number = int(text) if text.lstrip("-").isdigit() else float(text)
    return Constant(np.array(number).astype(kind.to_dtype())).output(0)


@translator("fill_any_like", "fill_zeros_like", "fill_zeros_like2")
def fill_like(node: PaddleNodeContext) -> ConversionResult:
    value = node.get_input("X")
    kind = node.type_attribute("dtype") or value.element_type
    return filled(node.scalar("value", "ValueTensor", kind, 0.0), ops.ShapeOf(value).output(0))


@translator("fill_constant_batch_size_like")
def fill_like_batch(node: PaddleNodeContext) -> ConversionResult:
    """One length of the shape is that of an axis of another tensor."""
    value, shape = node.get_input("Input"), list(node.get_attribute("shape"))
    source, target = node.get_attribute("input_dim_idx", 0), node.get_attribute("output_dim_idx", 0)
    kind = node.type_attribute("dtype") or Type.f32
    parts = [int64(shape[:target]), axis_length(value, [source]), int64(shape[target + 1 :])]
    return filled(_number(node, kind), ops.Concat(parts, 0).output(0))


rows(
    {
        "assign_value": lambda node: values_of(node, "shape"),
        "full_int_array": lambda node: Constant(
            np.array(node.get_attribute("value"), (node.type_attribute("dtype") or Type.i64).to_dtype())
        ),
    }
)


def values_of(node: PaddleNodeContext, shape: str) -> Output:
    """Return the numbers in attributes, one of which has values, as a constant."""
    kind = node.type_attribute("dtype") or node.output_variable().element_type
    names = ("values", "fp32_values", "int32_values", "int64_values", "bool_values", "fp64_values", "fp16_values",
             "int8_values")  # fmt: skip
    numbers: list[float] = next((values for name in names if (values := node.get_attribute(name, []))), [])
    array = np.array(numbers).astype(kind.to_dtype())
    lengths = node.get_attribute(shape, [len(numbers)])
    if array.size == 1 and math.prod(lengths) != 1:
        lengths = [1]
    return Constant(array.reshape(lengths)).output(0)


@translator("range")
def arange(node: PaddleNodeContext) -> ConversionResult:
    declared = node.output_variable().element_type
    kind = node.type_attribute("dtype") or (node.get_input("Start").element_type if declared.is_dynamic() else declared)
    return ops.Range(*(node.scalar(name.lower(), name, kind) for name in ("Start", "End", "Step")), kind)


@translator("linspace")
def spaced(node: PaddleNodeContext) -> ConversionResult:
    kind = node.type_attribute("dtype") or node.get_input("Start").element_type
    start, stop = (node.scalar(name.lower(), name, Type.f32) for name in ("Start", "Stop"))
    numbers = linspace(start, stop, node.scalar("num", "Num", Type.i64))
    return convert_to(numbers.output(0), kind)


@translator("eye")
def eye(node: PaddleNodeContext) -> ConversionResult:
    kind = node.type_attribute("dtype") or Type.f32
    rows = node.scalar("num_rows", "num_rows", Type.i64)
    columns = node.scalar("num_columns", "num_columns", Type.i64, -1)
    if isinstance(columns.node, Constant) and columns.node.data.item() < 0:
        columns = rows
    return ops.Eye(rows, columns, int64(0), kind)


@translator("tril_triu", "tril", "triu")
def triangle_of(node: PaddleNodeContext) -> ConversionResult:
    """Keep the elements on one side of a diagonal of each matrix."""
    value, offset = node.get_input("X"), node.get_attribute("diagonal", 0)
    kind = node.get_op_type()
    is_lower = node.get_attribute("lower", True) if kind == "tril_triu" else kind == "tril"
    return triangle(value, ops.LessEqual if is_lower else ops.GreaterEqual, offset)


@translator("tril_indices", "triu_indices")
def triangle_indices(node: PaddleNodeContext) -> ConversionResult:
    is_lower = node.get_op_type() == "tril_indices"
    indices = np.tril_indices if is_lower else np.triu_indices
    rows, columns = (node.get_attribute(name) for name in (("rows", "cols") if is_lower else ("row", "col")))
    if rows * columns > MAX_COMPUTED:
        raise FrontendError(f"a matrix of shape {[rows, columns]} is too large")
    kind = node.type_attribute("dtype") or Type.i64
    return Constant(np.array(indices(rows, node.get_attribute("offset", 0), columns)).astype(kind.to_dtype()))


@translator("diag_v2", "diag")
def diagonal_matrix(node: PaddleNodeContext) -> ConversionResult:
    """A matrix with a vector on a diagonal, or a diagonal of a matrix."""
    value, offset = node.get_input("X"), node.get_attribute("offset", 0)
    if rank_of(value) == 2:
        return diagonal_of(value, offset)
    length = known_length(value, 0, "the length of a diagonal")
    size = length + abs(offset)
    if size * size > MAX_COMPUTED:
        raise FrontendError(f"a matrix of {size} rows is too large")
    empty = np.full((size, size), node.get_attribute("padding_value", 0.0), value.element_type.to_dtype())
    rows = np.arange(length) + max(-offset, 0)
    return ops.ScatterNDUpdate(Constant(empty), int64(np.stack([rows, rows + offset], 1)), value)
