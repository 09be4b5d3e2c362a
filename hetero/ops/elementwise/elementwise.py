"""Element-wise operations with one input, and Fused, which stands for several that a device runs as one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from hetero.core.types import Type
from hetero.graph import Attribute, Model, Node, Op, Output, choice, is_terminal
from hetero.ops.checks import AcceptedTypes, check_type, is_number


class Unary(Op):
    """Base of element-wise operations on one input, by default numbers. The output has its element type and shape."""

    input_names: tuple[str, ...] = ("node",)
    #: The accepted element types: a predicate and its description for messages.
    accepted_types: AcceptedTypes = (is_number, "a number")

    def validate_and_infer_types(self) -> None:
        check_type(self, (0,), *self.accepted_types)
        self.set_output_type(0, self.get_input_element_type(0), self.get_input_partial_shape(0))


class UnaryOfData(Unary):
    """Base of element-wise operations whose input is called ``data``."""

    input_names = ("data",)


class RealUnary(Unary):
    """Base of element-wise operations on one floating-point input."""

    accepted_types = (Type.is_real, "a floating-point number")


class Abs(Unary, opset=1):
    """Absolute value."""


class Acos(Unary, opset=1):
    """Arc cosine, in radians."""


class Acosh(Unary, opset=4):
    """Inverse hyperbolic cosine, for x >= 1."""


class Asin(Unary, opset=1):
    """Arc sine, in radians."""


class Asinh(Unary, opset=4):
    """Inverse hyperbolic sine."""


class Atan(Unary, opset=1):
    """Arc tangent, in radians."""


class Atanh(Unary, opset=4):
    """Inverse hyperbolic tangent."""


class Ceiling(Unary, opset=1):
    """The smallest integer not less than x."""


class Cos(Unary, opset=1):
    """Cosine of x in radians."""


class Cosh(Unary, opset=1):
    """Hyperbolic cosine."""


class Erf(Unary, opset=1):
    """The error function: 2/√π times the integral of exp(-t²) from 0 to x."""


class ErfInv(RealUnary, opset=17):
    """The inverse of the error function: infinite at -1 and 1, NaN beyond."""


class Exp(Unary, opset=1):
    """e to the power of x."""


class Floor(Unary, opset=1):
    """The largest integer not greater than x."""


class Log(Unary, opset=1):
    """The natural logarithm."""


class Negative(Unary, opset=1):
    """-x"""


class Sign(Unary, opset=1):
    """The sign of x: -1, 0 or 1."""


class Sin(Unary, opset=1):
    """Sine of x in radians."""


class Sinh(Unary, opset=1):
    """Hyperbolic sine."""


class Sqrt(Unary, opset=1):
    """The square root."""


class Tan(Unary, opset=1):
    """Tangent of x in radians."""


class Tanh(Unary, opset=1):
    """Hyperbolic tangent."""


class Round(UnaryOfData, opset=5):
    """The nearest integer. ``mode`` says whether halves go to the even integer or away from zero."""

    mode = Attribute(choice("half_to_even", "half_away_from_zero"), "half_to_even")


class Clamp(UnaryOfData, opset=1):
    """min(max(x, min_value), max_value)

    - ``min_value``, ``max_value``: the limits.
    """

    min_value = Attribute(float, ir="min")
    max_value = Attribute(float, ir="max")

    def validate_and_infer_types(self) -> None:
        if self.min_value > self.max_value:
            self.fail(f"min_value {self.min_value} is above max_value {self.max_value}")
        super().validate_and_infer_types()


class Fused(Node):
    """Operations that run as one. Made by the pass ``fuse_elementwise``, for devices.

    ``body`` computes the only output; its Parameters stand for the inputs, in order. ``anchor`` is the operation of
    the body that is not element-wise, such as a convolution, or None. Operations that it reads are its prologue,
    all others its epilogue.
    """

    def __init__(self, inputs: Sequence[Output], body: Model, anchor: Node | None = None) -> None:
        super().__init__(inputs)
        self.body, self.bodies, self.anchor = body, [body], anchor
        self.infer()

    def validate_and_infer_types(self) -> None:
        result = self.body.results[0].input_value(0)
        self.set_output_type(0, result.element_type, result.partial_shape)

    def clone_with_new_inputs(self, inputs: Sequence[Output]) -> Fused:
        body, anchor = self.body.clone(), None
        if self.anchor is not None:
            anchor = body.get_ordered_ops()[self.body.get_ordered_ops().index(self.anchor)]
        return Fused(inputs, body, anchor)

    @cached_property
    def operations(self) -> list[Node]:
        """The operations of the body, in order."""
        return [node for node in self.body.get_ordered_ops() if not is_terminal(node)]

    @cached_property
    def prologue(self) -> list[Node]:
        """The operations that the anchor reads, directly or indirectly, in order."""
        read = {self.anchor}
        for node in reversed(self.operations):
            if node in read:
                read.update(value.node for value in node.input_values())
        return [node for node in self.operations if node in read and node is not self.anchor]

    @cached_property
    def epilogue(self) -> list[Node]:
        """The operations that are neither the anchor nor in the prologue, in order."""
        others = {self.anchor, *self.prologue}
        return [node for node in self.operations if node not in others]
