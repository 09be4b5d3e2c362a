"""Bitwise operations on integers."""

from __future__ import annotations

from hetero.core.types import Type
from hetero.ops.elementwise.arithmetic import Broadcasting
from hetero.ops.elementwise.elementwise import Unary


def _has_bits(element_type: Type) -> bool:
    return element_type.is_integer() or element_type is Type.boolean


class _Bitwise(Broadcasting):
    """Base of bitwise operations on two inputs of one integer type, or boolean. Shapes are broadcast."""

    accepted_types = (_has_bits, "an integer or boolean")


class BitwiseAnd(_Bitwise, opset=13):
    """a & b"""


class BitwiseOr(_Bitwise, opset=13):
    """a | b"""


class BitwiseXor(_Bitwise, opset=13):
    """a ^ b"""


class BitwiseNot(Unary, opset=13):
    """~x; logical not for boolean."""

    accepted_types = (_has_bits, "an integer or boolean")


class _Shift(Broadcasting):
    """Base of bit shifts of two inputs of one integer type. Shapes are broadcast."""

    input_names = ("arg0", "arg1")
    accepted_types = (Type.is_integer, "an integer")


class BitwiseLeftShift(_Shift, opset=15):
    """arg0 << arg1"""


class BitwiseRightShift(_Shift, opset=15):
    """arg0 >> arg1, an arithmetic shift for signed types."""
