"""MatMul: matrix multiplication."""

from __future__ import annotations

from hetero.errors import GraphError
from hetero.graph import Attribute, Op
from hetero.ops.checks import common_type
from hetero.shape import Dimension, PartialShape, concatenate


class MatMul(Op, opset=1):
    """Matrix product over the last two dimensions, ``[..., M, K] x [..., K, N]`` to ``[..., M, N]``.

    Leading dimensions are broadcast. A vector is a row on the left and a column on the right; the result does not have
    that dimension, and the transpose attributes do not apply to it.
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
