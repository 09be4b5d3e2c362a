"""Bitwise operations on integers."""

from __future__ import annotations

from hetero.graph import Op
from hetero.ops.arithmetic import Broadcasting
from hetero.ops.checks import check_type, common_type
from hetero.types import Type


def _has_bits(element_type: Type) -> bool:
    return element_type.is_integral() or element_type is Type.boolean


class _Bitwise(Broadcasting):
    """Base of bitwise operations on two inputs of one integer type, or boolean. Shapes are broadcast."""

    def validate_and_infer_types(self) -> None:
        check_type(self, (0, 1), _has_bits, "an integer or boolean")
        self.set_output_type(0, common_type(self, (0, 1)), self.broadcast_shape((0, 1)))


class BitwiseAnd(_Bitwise, opset=13):
    """a & b"""


class BitwiseOr(_Bitwise, opset=13):
    """a | b"""


class BitwiseXor(_Bitwise, opset=13):
    """a ^ b"""


class BitwiseNot(Op, opset=13):
    """~x; logical not for boolean."""

    input_names = ("node",)

    def validate_and_infer_types(self) -> None:
        check_type(self, (0,), _has_bits, "an integer or boolean")
        self.set_output_type(0, self.get_input_element_type(0), self.get_input_partial_shape(0))


class _Shift(Broadcasting):
    """Base of bit shifts of two inputs of one integer type. Shapes are broadcast."""

    input_names = ("arg0", "arg1")

    def validate_and_infer_types(self) -> None:
        check_type(self, (0, 1), Type.is_integral, "an integer")
        self.set_output_type(0, common_type(self, (0, 1)), self.broadcast_shape((0, 1)))


class BitwiseLeftShift(_Shift, opset=15):
    """arg0 << arg1"""


class BitwiseRightShift(_Shift, opset=15):
    """arg0 >> arg1, an arithmetic shift for signed types."""
