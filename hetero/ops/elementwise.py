"""Operations that compute each element from the one at the same place."""

from __future__ import annotations

from hetero.graph import Attribute, Op, choice
from hetero.ops.checks import check_type, is_number
from hetero.types import Type


class Unary(Op):
    """Numbers in the first input; the output has its type and shape."""

    inputs = ("node",)

    def validate_and_infer_types(self) -> None:
        check_type(self, (0,), is_number, "a number")
        self.set_output_type(0, self.get_input_element_type(0), self.get_input_partial_shape(0))


class RealUnary(Unary):
    """A Unary of floating-point numbers."""

    def validate_and_infer_types(self) -> None:
        check_type(self, (0,), Type.is_real, "a floating-point number")
        super().validate_and_infer_types()


class Abs(Unary, opset=1):
    """|x|"""


class Acos(Unary, opset=1):
    """The angle in radians whose cosine is x."""


class Acosh(Unary, opset=4):
    """The number whose cosh is x, which is not below 1."""


class Asin(Unary, opset=1):
    """The angle in radians whose sine is x."""


class Asinh(Unary, opset=4):
    """The number whose sinh is x."""


class Atan(Unary, opset=1):
    """The angle in radians whose tangent is x."""


class Atanh(Unary, opset=4):
    """The number whose tanh is x."""


class Ceiling(Unary, opset=1):
    """The smallest whole number that is not below x."""


class Cos(Unary, opset=1):
    """cos x"""


class Cosh(Unary, opset=1):
    """cosh x"""


class Erf(Unary, opset=1):
    """The error function: 2/√π times the integral of exp(-t²) for t from 0 to x."""


class Exp(Unary, opset=1):
    """e to the power of x."""


class Floor(Unary, opset=1):
    """The largest whole number that is not above x."""


class Log(Unary, opset=1):
    """The natural logarithm."""


class Negative(Unary, opset=1):
    """-x"""


class Sign(Unary, opset=1):
    """-1, 0 or 1"""


class Sin(Unary, opset=1):
    """sin x"""


class Sinh(Unary, opset=1):
    """sinh x"""


class Sqrt(Unary, opset=1):
    """The square root."""


class Tan(Unary, opset=1):
    """tan x"""


class Tanh(Unary, opset=1):
    """tanh x"""


class Round(Unary, opset=5):
    """The nearest whole number; halves go to the even one, or away from zero."""

    inputs = ("data",)
    mode = Attribute(choice("half_to_even", "half_away_from_zero"), "half_to_even")


class Clamp(Unary, opset=1):
    """min(max(x, min_value), max_value)"""

    inputs = ("data",)
    min_value = Attribute(float, ir="min")
    max_value = Attribute(float, ir="max")

    def validate_and_infer_types(self) -> None:
        if self.min_value > self.max_value:
            self.fail(f"min_value {self.min_value} is above max_value {self.max_value}")
        super().validate_and_infer_types()
