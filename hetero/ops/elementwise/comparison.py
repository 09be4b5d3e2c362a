"""Element-wise comparisons and logical operations with numpy broadcasting; the output is boolean."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hetero.core.types import Type
from hetero.graph import Attribute, Op
from hetero.ops.checks import check_type, common_type, is_boolean
from hetero.ops.elementwise.arithmetic import Broadcasting
from hetero.ops.values import is_exact, is_short, known_values


class Comparison(Broadcasting):
    """Base of element-wise comparisons of two inputs of one element type."""

    combine: Callable

    def validate_and_infer_types(self) -> None:
        common_type(self, (0, 1))
        self.set_output_type(0, Type.boolean, self.broadcast_shape((0, 1)))

    def infer_value(self) -> np.ndarray | None:
        values = known_values(self.input_values())
        if values is None or not all(map(is_exact, values)) or not is_short(self.output(0)):
            return None
        return np.asarray(self.combine(*values))


class Equal(Comparison, opset=1):
    """a = b"""

    combine = staticmethod(np.equal)


class NotEqual(Comparison, opset=1):
    """a ≠ b"""

    combine = staticmethod(np.not_equal)


class Greater(Comparison, opset=1):
    """a > b"""

    combine = staticmethod(np.greater)


class GreaterEqual(Comparison, opset=1):
    """a ≥ b"""

    combine = staticmethod(np.greater_equal)


class Less(Comparison, opset=1):
    """a < b"""

    combine = staticmethod(np.less)


class LessEqual(Comparison, opset=1):
    """a ≤ b"""

    combine = staticmethod(np.less_equal)


class Logical(Comparison):
    """Base of element-wise logical operations on two boolean inputs."""

    def validate_and_infer_types(self) -> None:
        check_type(self, (0, 1), is_boolean, "boolean")
        super().validate_and_infer_types()


class LogicalAnd(Logical, opset=1):
    """a and b"""

    combine = staticmethod(np.logical_and)


class LogicalOr(Logical, opset=1):
    """a or b"""

    combine = staticmethod(np.logical_or)


class LogicalXor(Logical, opset=1):
    """Exclusive or: one of a and b, but not both."""

    combine = staticmethod(np.logical_xor)


class LogicalNot(Op, opset=1):
    """not x"""

    input_names = ("node",)

    def validate_and_infer_types(self) -> None:
        check_type(self, (0,), is_boolean, "boolean")
        self.set_output_type(0, Type.boolean, self.get_input_partial_shape(0))

    def infer_value(self) -> np.ndarray | None:
        value = self.input_value(0).value
        return np.asarray(np.logical_not(value)) if is_exact(value) else None


class _Classification(Op):
    """Base of element-wise tests of floating-point numbers; the output is boolean."""

    input_names = ("data",)

    def validate_and_infer_types(self) -> None:
        check_type(self, (0,), Type.is_real, "a floating-point number")
        self.set_output_type(0, Type.boolean, self.get_input_partial_shape(0))


class IsFinite(_Classification, opset=10):
    """Whether x is neither infinite nor NaN."""


class IsNaN(_Classification, opset=10):
    """Whether x is not a number."""


class IsInf(_Classification, opset=10):
    """Whether x is -inf (if ``detect_negative`` is set) or +inf (if ``detect_positive`` is set)."""

    attributes_in = "attributes?"
    detect_negative = Attribute(bool, True)
    detect_positive = Attribute(bool, True)
