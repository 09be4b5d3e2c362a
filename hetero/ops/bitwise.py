"""Operations on the bits of integers."""

from __future__ import annotations

from hetero.graph import Op
from hetero.ops.arithmetic import Broadcasting
from hetero.ops.checks import check_type, common_type
from hetero.types import Type


def _has_bits(element_type: Type) -> bool:
    return element_type.is_integral() or element_type is Type.boolean


class _Bitwise(Broadcasting):
    """Two inputs of one type of integers, or boolean."""

    def validate_and_infer_types(self) -> None:
        check_type(self, (0, 1), _has_bits, "an integer or boolean")
        self.set_output_type(0, common_type(self, (0, 1)), self.broadcast_shape((0, 1)))


class BitwiseAnd(_Bitwise, opset=13):
    """The bits that both have."""


class BitwiseOr(_Bitwise, opset=13):
    """The bits that one or both have."""


class BitwiseXor(_Bitwise, opset=13):
    """The bits that one of the two has."""


class BitwiseNot(Op, opset=13):
    """The bits that x does not have."""

    inputs = ("node",)

    def validate_and_infer_types(self) -> None:
        check_type(self, (0,), _has_bits, "an integer or boolean")
        self.set_output_type(0, self.get_input_element_type(0), self.get_input_partial_shape(0))


class _Shift(Broadcasting):
    inputs = ("arg0", "arg1")

    def validate_and_infer_types(self) -> None:
        check_type(self, (0, 1), Type.is_integral, "an integer")
        self.set_output_type(0, common_type(self, (0, 1)), self.broadcast_shape((0, 1)))


class BitwiseLeftShift(_Shift, opset=15):
    """The bits moved up by as many places as the second input says."""


class BitwiseRightShift(_Shift, opset=15):
    """The bits moved down by as many places as the second input says; the sign stays."""
