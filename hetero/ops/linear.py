"""Linear algebra: MatMul, GroupedMatMul, Einsum, Eye, Inverse and Det."""

from __future__ import annotations

from dataclasses import dataclass

from hetero.core.shape import Dimension, PartialShape, concatenate
from hetero.core.types import Type
from hetero.graph import Attribute, Op
from hetero.ops.checks import (
    check_scalar_or_one,
    check_type,
    common_type,
    exact_length,
    exact_number,
    is_number,
    shape_of_rank,
    shape_of_value,
)
from hetero.system.errors import GraphError


class MatMul(Op, opset=1):
    """Matrix product over the last two dimensions, ``[..., M, K] x [..., K, N]`` to ``[..., M, N]``.

    Leading dimensions are broadcast. A vector is a row on the left and a column on the right; the result does not have
    that dimension, and the transpose attributes do not apply to it.

    - ``data_a``, ``data_b``: the left and the right matrices.
    - ``transpose_a``, ``transpose_b``: whether the last two dimensions of an input are swapped first.
    """

    input_names = ("data_a", "data_b")
    transpose_a = Attribute(bool)
    transpose_b = Attribute(bool)

    def validate_and_infer_types(self) -> None:
        self.set_output_type(0, common_type(self, (0, 1)), self._product_shape())

    def _product_shape(self) -> PartialShape:
        a, b = self.get_input_partial_shape(0), self.get_input_partial_shape(1)
        if not (a.has_rank and b.has_rank):
            return PartialShape.dynamic()
        if not len(a) or not len(b):
            self.fail(f"its inputs must not be scalars, but have the shapes {a} and {b}")
        rows, inner_a = self._matrix(a, self.transpose_a, is_left=True)
        inner_b, columns = self._matrix(b, self.transpose_b, is_left=False)
        try:
            batch = a[:-2].broadcast(b[:-2]) if len(a) > 1 and len(b) > 1 else a[:-2] if len(a) > 1 else b[:-2]
            Dimension.of(inner_a).merge(inner_b)
        except GraphError:
            self.fail(f"shapes {a} and {b} cannot be multiplied{self._transposed()}")
        return concatenate(batch, [] if len(a) == 1 else [rows], [] if len(b) == 1 else [columns])

    @staticmethod
    def _matrix(shape: PartialShape, transposed: bool, is_left: bool) -> tuple[Dimension, Dimension]:
        if len(shape) == 1:
            return (Dimension(1), shape[0]) if is_left else (shape[0], Dimension(1))
        return (shape[-1], shape[-2]) if transposed else (shape[-2], shape[-1])

    def _transposed(self) -> str:
        sides = [name for name in ("transpose_a", "transpose_b") if getattr(self, name)]
        return f" with {' and '.join(sides)}" if sides else ""


class GroupedMatMul(Op, opset=17):
    """Matrix products with one matrix of weights ``[G, N, K]`` for each group of rows, which is transposed.

    With ``mat_a [rows, K]``, ``offsets [G]`` holds where the rows of each group end; rows after the last group give
    zeros. With ``mat_a [G, M, K]`` the groups are the matrices, and offsets are not read.

    - ``mat_b``: the weights.
    """

    input_names = ("mat_a", "mat_b", "offsets?")

    def validate_and_infer_types(self) -> None:
        a, b = self.get_input_partial_shape(0), self.get_input_partial_shape(1)
        element_type = common_type(self, (0, 1))
        if self.has_input("offsets"):
            check_type(self, [2], lambda kind: kind in (Type.i32, Type.i64), "i32 or i64")
            shape_of_rank(self, 2, 1)
        if not (a.has_rank and b.has_rank):
            self.set_output_type(0, element_type, PartialShape.dynamic())
            return
        if len(a) not in (2, 3) or len(b) != 3:
            self.fail(f"it multiplies [rows, K] or [G, M, K] by [G, N, K], not {a} by {b}")
        if len(a) == 2 and not self.has_input("offsets"):
            self.fail("offsets must be given, as the rows of all groups are in one matrix")
        try:
            Dimension.of(a[-1]).merge(b[-1])
            groups = [a[0].merge(b[0])] if len(a) == 3 else []
        except GraphError:
            self.fail(f"shapes {a} and {b} cannot be multiplied")
        self.set_output_type(0, element_type, concatenate(groups, [a[-2], b[-2]]))


class Eye(Op, opset=9):
    """Matrices ``[batch_shape…, num_rows, num_columns]`` with ones on a diagonal and zeros elsewhere.

    ``diagonal_index`` is 0 for the main diagonal, positive above and negative below it.

    - ``output_type``: the element type of the output.
    """

    input_names = ("num_rows", "num_columns", "diagonal_index", "batch_shape?")
    parameter_order = ("num_rows", "num_columns", "diagonal_index", "output_type", "batch_shape")
    shape_inputs = (0, 1, 3)
    output_type = Attribute(Type)

    def validate_and_infer_types(self) -> None:
        check_type(self, range(self.get_input_size()), Type.is_integer, "an integer")
        for index in range(3):
            check_scalar_or_one(self, index)
        batch = shape_of_value(self.input_value(3)) if self.has_input("batch_shape") else PartialShape([])
        if not batch.has_rank:
            return self.set_output_type(0, self.output_type, PartialShape.dynamic())
        self.set_output_type(0, self.output_type, concatenate(batch, [self._length(0), self._length(1)]))

    def _length(self, index: int) -> Dimension:
        length = exact_number(self.input_value(index))
        if length is not None and length < 0:
            self.fail(f"{self.input_names[index]} must not be negative, but is {length}")
        return exact_length(self.input_value(index))


class _SquareMatrixOp(Op):
    input_names = ("data",)

    def square_shape(self) -> PartialShape:
        check_type(self, (0,), Type.is_real, "a floating-point number")
        shape = self.get_input_partial_shape(0)
        if shape.has_rank and (len(shape) < 2 or not shape[-2].compatible(shape[-1])):
            self.fail(f"data must be square matrices, but has the shape {shape}")
        return shape


class Inverse(_SquareMatrixOp, opset=14):
    """The inverse of each square matrix ``[…, n, n]``, or of its transpose if ``adjoint`` is set."""

    adjoint = Attribute(bool, False)

    def validate_and_infer_types(self) -> None:
        self.set_output_type(0, self.get_input_element_type(0), self.square_shape())


class Det(_SquareMatrixOp):
    """The determinant ``[…]`` of each square matrix ``[…, n, n]``. In ONNX, not in OpenVINO."""

    def validate_and_infer_types(self) -> None:
        shape = self.square_shape()
        self.set_output_type(0, self.get_input_element_type(0), shape[:-2] if shape.has_rank else shape)


ELLIPSIS = "..."


@dataclass
class Subscript:
    """The labels of a tensor's dimensions: letters, and at most one ELLIPSIS for any number of dimensions."""

    labels: list[str]

    @classmethod
    def parse(cls, text: str) -> Subscript:
        """Parse a subscript. Raises ValueError if it has anything but letters and one ellipsis."""
        parts = text.split(ELLIPSIS)
        labels = [*parts[0], *(label for part in parts[1:] for label in (ELLIPSIS, *part))]
        if len(parts) > 2 or not all(label == ELLIPSIS or (label.isascii() and label.isalpha()) for label in labels):
            raise ValueError(text)
        return cls(labels)

    def expanded(self, rank: int, longest: int) -> list[str]:
        """Return a label for each dimension. Those of the ellipsis are numbers up to ``longest`` - 1, right-aligned."""
        if ELLIPSIS not in self.labels:
            return list(self.labels)
        count = rank - len(self.labels) + 1
        position = self.labels.index(ELLIPSIS)
        numbers = [str(number) for number in range(longest - count, longest)]
        return [*self.labels[:position], *numbers, *self.labels[position + 1 :]]


def parse_equation(equation: str) -> tuple[list[Subscript], Subscript]:
    """Return the subscripts of the inputs and of the output.

    If the equation has no output, that is the ellipsis and the labels that occur once, in alphabetical order, as in
    numpy. Raises ValueError if the equation is invalid.
    """
    left, arrow, right = equation.replace(" ", "").partition("->")
    inputs = [Subscript.parse(text) for text in left.split(",")]
    every = [label for subscript in inputs for label in subscript.labels]
    if arrow:
        output = Subscript.parse(right)
    else:
        once = sorted(label for label in set(every) - {ELLIPSIS} if every.count(label) == 1)
        output = Subscript([ELLIPSIS] * (ELLIPSIS in every) + once)
    if not set(output.labels) <= set(every) or len(set(output.labels)) < len(output.labels):
        raise ValueError(equation)
    return inputs, output


class Einsum(Op, opset=7):
    """The product of the inputs, whose dimensions are labeled by letters, summed over letters not in the output.

    "ij,jk->ik" is a matrix product, "ii->i" a diagonal. Dimensions of an ellipsis are broadcast.

    - ``equation``: the letters of the dimensions of each input, separated by commas, then "->" and those of the output.
      Without "->" the output has the letters that occur once, in alphabetical order.
    """

    input_names = ("*inputs",)
    equation = Attribute(str)

    def validate_and_infer_types(self) -> None:
        check_type(self, range(self.get_input_size()), is_number, "a number")
        element_type = common_type(self, range(self.get_input_size()))
        try:
            subscripts, output = parse_equation(self.equation)
        except ValueError:
            self.fail(f"equation '{self.equation}' must be letters for each input, '->', and some of them once")
        if len(subscripts) != self.get_input_size():
            self.fail(
                f"equation '{self.equation}' has {len(subscripts)} inputs, but the node has {self.get_input_size()}"
            )
        self.set_output_type(0, element_type, self._shape(subscripts, output))

    def _shape(self, subscripts: list[Subscript], output: Subscript) -> PartialShape:
        lengths: dict[str, Dimension] = {}
        broadcast = PartialShape([])
        for index, subscript in enumerate(subscripts):
            shape, labels = self.get_input_partial_shape(index), subscript.labels
            if not shape.has_rank:
                broadcast = shape if ELLIPSIS in labels else broadcast
                continue
            letters = len(labels) - (ELLIPSIS in labels)
            if len(shape) < letters or (len(shape) > letters and ELLIPSIS not in labels):
                self.fail(f"input {index} has the shape {shape}, but {letters} letters in equation '{self.equation}'")
            dimensions = list(shape)
            if ELLIPSIS in labels:
                begin = labels.index(ELLIPSIS)
                end = len(shape) - (len(labels) - begin - 1)
                broadcast = self._broadcast(broadcast, PartialShape(dimensions[begin:end]))
                dimensions[begin:end] = []
            for label, dimension in zip((label for label in labels if label != ELLIPSIS), dimensions):
                lengths[label] = self._merge(label, lengths.get(label, dimension), dimension)
        if ELLIPSIS in output.labels and not broadcast.has_rank:
            return PartialShape.dynamic()
        dimensions = []
        for label in output.labels:
            dimensions += list(broadcast) if label == ELLIPSIS else [lengths.get(label, Dimension())]
        return PartialShape(dimensions)

    def _merge(self, label: str, one: Dimension, other: Dimension) -> Dimension:
        if one.compatible(other):
            # Either may be 1 and broadcast, so the merged dimension keeps a symbol only if both have it.
            return one.merge(other).with_symbol(one.symbol if one.symbol is other.symbol else None)
        if not one.compatible(1) and not other.compatible(1):
            self.fail(f"in equation '{self.equation}' label {label} is both {one} and {other}")
        return one.broadcast(other)  # as in numpy, a dimension of 1 is broadcast

    def _broadcast(self, one: PartialShape, other: PartialShape) -> PartialShape:
        try:
            return one.broadcast(other)
        except GraphError as error:
            self.fail(str(error))
