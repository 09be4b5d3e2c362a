"""Linear algebra: Eye, Inverse and Det."""

from __future__ import annotations

from hetero.graph import Attribute, Op
from hetero.ops.checks import check_scalar_or_one, check_type
from hetero.ops.values import exact_length, exact_number, shape_of_value
from hetero.shape import Dimension, PartialShape, concatenate
from hetero.types import Type


class Eye(Op, opset=9):
    """Matrices ``[batch_shape…, num_rows, num_columns]`` with ones on a diagonal and zeros elsewhere.

    ``diagonal_index`` is 0 for the main diagonal, positive above and negative below it.
    """

    input_names = ("num_rows", "num_columns", "diagonal_index", "batch_shape?")
    parameter_order = ("num_rows", "num_columns", "diagonal_index", "output_type", "batch_shape")
    shape_inputs = (0, 1, 3)
    output_type = Attribute(Type)

    def validate_and_infer_types(self) -> None:
        check_type(self, range(self.get_input_size()), Type.is_integral, "an integer")
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
