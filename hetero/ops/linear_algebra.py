"""Operations on matrices: Einsum, Eye, Inverse and Det."""

from __future__ import annotations

from hetero.graph import Attribute, Op
from hetero.ops.checks import check_scalar_or_one, check_type, common_type, is_number
from hetero.ops.values import exact_value, shape_of_value
from hetero.shape import Dimension, PartialShape, concatenate
from hetero.types import Type


class Einsum(Op, opset=7):
    """Sums of products by Einstein's notation: ``"bij,bjk->bik"`` for products of matrices.

    Upper and lower case letters are labels, ``...`` stands for any dimensions; without ``->`` the result has the
    labels that come once, in alphabetical order.
    """

    inputs = ("*inputs",)
    equation = Attribute(str)

    def validate_and_infer_types(self) -> None:
        check_type(self, range(self.get_input_size()), is_number, "a number")
        element_type = common_type(self, range(self.get_input_size()))
        subscripts, result = self._parsed()
        if len(subscripts) != self.get_input_size():
            self.fail(f"equation '{self.equation}' is for {len(subscripts)} inputs, but it has {self.get_input_size()}")
        lengths: dict[str, Dimension] = {}
        spread: PartialShape = PartialShape([])
        for index, labels in enumerate(subscripts):
            shape = self.get_input_partial_shape(index)
            if not shape.has_rank:
                return self.set_output_type(0, element_type, PartialShape.dynamic())
            spread = self._add_lengths(labels, shape, lengths, spread)
        unknown = [label for label in result if label != "." and label not in lengths]
        if unknown:
            self.fail(f"label {unknown[0]} of the result is in no input of '{self.equation}'")
        before, ellipsis, after = result.partition("...")
        middle = spread if ellipsis else []
        made = concatenate([lengths[label] for label in before], middle, [lengths[label] for label in after])
        self.set_output_type(0, element_type, made)

    def _parsed(self) -> tuple[list[str], str]:
        """The labels of each input, and of the result."""
        equation = self.equation.replace(" ", "")
        given, arrow, result = equation.partition("->")
        subscripts = given.split(",")
        if not all(label.isascii() and (label.isalpha() or label in ".,") for label in given + result):
            self.fail(f"equation '{self.equation}' may have letters, commas, '...' and '->' only")
        if not arrow:
            once = sorted(label for label in set(given) if label.isalpha() and given.count(label) == 1)
            result = ("..." if "..." in given else "") + "".join(once)
        return subscripts, result

    def _add_lengths(
        self, labels: str, shape: PartialShape, lengths: dict[str, Dimension], spread: PartialShape
    ) -> PartialShape:
        """Take in the dimensions of an input; returns what ``...`` stands for so far."""
        before, ellipsis, after = labels.partition("...")
        count = len(before) + len(after)
        if len(shape) < count or (len(shape) > count and not ellipsis):
            self.fail(f"labels '{labels}' do not fit an input of shape {shape}")
        last = len(shape) - len(after)
        for label, length in zip(before + after, [*shape[: len(before)], *shape[last:]]):
            known = lengths.get(label, length)
            # A dimension of 1 is repeated, as numpy does.
            if not known.compatible(length) and not known.compatible(1) and not length.compatible(1):
                self.fail(f"label {label} of '{self.equation}' stands for {known} and for {length}")
            lengths[label] = known.merge(length) if known.compatible(length) else known.broadcast(length)
        return spread.broadcast(shape[len(before) : last]) if ellipsis else spread


class Eye(Op, opset=9):
    """Matrices with ones on a diagonal, the main one or one above (positive) or below it, and zeros elsewhere."""

    inputs = ("num_rows", "num_columns", "diagonal_index", "batch_shape?")
    parameter_order = ("num_rows", "num_columns", "diagonal_index", "output_type", "batch_shape")
    shape_inputs = (0, 1, 3)
    output_type = Attribute(Type)

    def validate_and_infer_types(self) -> None:
        check_type(self, range(self.get_input_size()), Type.is_integral, "a whole number")
        for index in range(3):
            check_scalar_or_one(self, index)
        batch = shape_of_value(self.input_value(3)) if self.has_input("batch_shape") else PartialShape([])
        if not batch.has_rank:
            return self.set_output_type(0, self.output_type, PartialShape.dynamic())
        self.set_output_type(0, self.output_type, concatenate(batch, [self._length(0), self._length(1)]))

    def _length(self, index: int) -> Dimension:
        value = exact_value(self.input_value(index))
        if value is None:
            return Dimension()
        if value.reshape(-1)[0] < 0:
            self.fail(f"{self.inputs_declared[index]} must not be negative, but is {value.reshape(-1)[0]}")
        return Dimension(int(value.reshape(-1)[0]))


class _OfSquareMatrices(Op):
    inputs = ("data",)

    def square_shape(self) -> PartialShape:
        check_type(self, (0,), Type.is_real, "a floating-point number")
        shape = self.get_input_partial_shape(0)
        if shape.has_rank and (len(shape) < 2 or not shape[len(shape) - 2].compatible(shape[len(shape) - 1])):
            self.fail(f"data must be square matrices, but has the shape {shape}")
        return shape


class Inverse(_OfSquareMatrices, opset=14):
    """The inverse of each square matrix ``[…, n, n]``; with ``adjoint`` the adjugate: it times the determinant."""

    adjoint = Attribute(bool, False)

    def validate_and_infer_types(self) -> None:
        self.set_output_type(0, self.get_input_element_type(0), self.square_shape())


class Det(_OfSquareMatrices):
    """The determinant of each square matrix ``[…, n, n]``. ONNX has it, OpenVINO has not."""

    def validate_and_infer_types(self) -> None:
        shape = self.square_shape()
        self.set_output_type(0, self.get_input_element_type(0), shape[:-2] if shape.has_rank else shape)
