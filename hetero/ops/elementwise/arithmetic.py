"""Element-wise operations on two tensors with numpy broadcasting: arithmetic, comparison, logic, bits; Select."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hetero.core.shape import Dimension, PartialShape
from hetero.core.types import Type
from hetero.graph import Attribute, Op
from hetero.ops.checks import (
    AcceptedTypes,
    all_fit,
    as_objects,
    check_type,
    common_type,
    is_boolean,
    is_exact,
    is_number,
    is_short,
    known_values,
    numbers_of,
    numpy_or_none,
    tidy,
    value_of_numbers,
)
from hetero.ops.elementwise.elementwise import Unary
from hetero.system.errors import GraphError


class BroadcastOp(Op):
    """Base of operations that broadcast their inputs by the attribute ``auto_broadcast``.

    - ``auto_broadcast``: numpy broadcasts shapes as numpy does; none (or explicit) needs equal shapes.
    - ``x1``, ``x2``: a and b.
    """

    auto_broadcast: Any

    def broadcast_shape(self, indices: Sequence[int]) -> PartialShape:
        """Return the broadcast shape of inputs. Raises GraphError if they do not broadcast."""
        shape = self.get_input_partial_shape(indices[0])
        for index in indices[1:]:
            other = self.get_input_partial_shape(index)
            try:
                shape = shape.merge(other) if self.auto_broadcast == "none" else shape.broadcast(other)
            except GraphError as error:
                self.fail(str(error))
        return shape


class Broadcasting(BroadcastOp):
    """Base of element-wise operations on two inputs of one element type, by default of numbers.

    The output has that element type and the broadcast shape; with ``auto_broadcast`` "none" the shapes must be equal.
    """

    input_names: tuple[str, ...] = ("left_node", "right_node")
    auto_broadcast = Attribute(numpy_or_none, "NUMPY")
    #: The accepted element types: a predicate and its description for messages.
    accepted_types: AcceptedTypes = (is_number, "a number")
    #: Function for value propagation, on arrays of numbers or of Dimensions. None if values are not propagated.
    combine: Callable[..., Any] | None = None

    def validate_and_infer_types(self) -> None:
        check_type(self, (0, 1), *self.accepted_types)
        self.set_output_type(0, common_type(self, (0, 1)), self.broadcast_shape((0, 1)))

    def infer_value(self) -> np.ndarray | None:
        values = known_values(self.input_values())
        if values is None or self.combine is None or not is_short(self.output(0)):
            return None
        dtype = self.get_output_element_type(0).to_dtype()
        if all(is_exact(value) for value in values):
            with np.errstate(all="ignore"):
                value = self.combine(*(value.astype(dtype) for value in values))
            return None if value is None else np.asarray(value, dtype)
        numbers = [each for each in map(numbers_of, values) if each is not None]
        try:
            if len(numbers) == len(values):
                value = self.combine(*as_objects(numbers))
                return None if value is None or not all_fit(value, dtype) else value_of_numbers(value)
            value = self.combine(*as_objects(values))
        except (TypeError, AttributeError):
            return None  # Dimension, or a Length, has no such operator
        # Numbers outside the type's range would wrap around, which intervals cannot express.
        return tidy(np.asarray(value, object)) if value is not None and all_fit(value, dtype) else None


class Add(Broadcasting, opset=1):
    """a + b"""

    @staticmethod
    def combine(a: np.ndarray, b: np.ndarray) -> np.ndarray | None:
        # Dimension clamps sums at 0, so they are correct only if no operand is negative.
        return None if _has_negative(a) or _has_negative(b) else a + b


class Subtract(Broadcasting, opset=1):
    """a - b"""

    @staticmethod
    def combine(a: np.ndarray, b: np.ndarray) -> np.ndarray | None:
        # Dimension clamps differences at 0, so they are correct only if they cannot be negative.
        return None if _has_dimension(b) or _may_be_less(a, b) else a - b


class Multiply(Broadcasting, opset=1):
    """a * b"""

    @staticmethod
    def combine(a: np.ndarray, b: np.ndarray) -> np.ndarray | None:
        return None if _has_negative(a) or _has_negative(b) else a * b


class Divide(Broadcasting, opset=1):
    """a / b. Integer quotients are rounded down if m_pythondiv is set, else toward zero.

    - ``m_pythondiv``: whether integer quotients are rounded down.
    """

    m_pythondiv = Attribute(bool, True)

    def combine(self, a: np.ndarray, b: np.ndarray) -> np.ndarray | None:
        if _has_dimension(b) or (np.asarray(b) == 0).any():
            return None
        if _has_dimension(a):
            return None if _has_negative(a) or _has_negative(b) else a // b
        quotient = a // b
        return quotient if self.m_pythondiv else quotient + ((a % b != 0) & ((a < 0) != (b < 0)))


class Maximum(Broadcasting, opset=1):
    """The larger of a and b."""

    combine = staticmethod(np.maximum)


class Minimum(Broadcasting, opset=1):
    """The smaller of a and b."""

    combine = staticmethod(np.minimum)


class Mod(Broadcasting, opset=1):
    """The remainder of a / b with the sign of a."""

    combine = staticmethod(np.fmod)


class FloorMod(Broadcasting, opset=1):
    """The remainder of a / b with the sign of b."""

    combine = staticmethod(np.mod)


class Power(Broadcasting, opset=1):
    """a to the power of b"""


class SquaredDifference(Broadcasting, opset=1):
    """(a - b)²"""

    input_names = ("x1", "x2")


class Select(BroadcastOp, opset=1):
    """Elements of then_node where cond is true, of else_node elsewhere. The shapes of all three are broadcast."""

    input_names = ("cond", "then_node", "else_node")
    auto_broadcast = Attribute(numpy_or_none, "numpy")

    def validate_and_infer_types(self) -> None:
        check_type(self, (0,), is_boolean, "boolean")
        self.set_output_type(0, common_type(self, (1, 2)), self.broadcast_shape((1, 2, 0)))

    def infer_value(self) -> np.ndarray | None:
        values = known_values(self.input_values())
        if values is None or not is_exact(values[0]) or not is_short(self.output(0)):
            return None
        value = np.where(*values)
        return value.astype(self.get_output_element_type(0).to_dtype()) if is_exact(value) else tidy(value)


def _has_dimension(value: np.ndarray) -> bool:
    return value.dtype == object and any(isinstance(item, Dimension) for item in value.reshape(-1))


def _has_negative(value: np.ndarray) -> bool:
    """Return whether an object array, which may contain Dimensions, contains a negative number."""
    return value.dtype == object and any(not isinstance(item, Dimension) and item < 0 for item in value.reshape(-1))


def _may_be_less(a: np.ndarray, b: np.ndarray) -> bool:
    """Return whether a Dimension in ``a`` may be less than the number in ``b`` that is subtracted from it."""
    return any(isinstance(m, Dimension) and (m.min_length < n or n < 0) for m, n in np.broadcast(a, b))


class Comparison(Broadcasting):
    """Base of element-wise comparisons of two inputs of one element type."""

    combine: Callable[..., Any]

    def validate_and_infer_types(self) -> None:
        common_type(self, (0, 1))
        self.set_output_type(0, Type.boolean, self.broadcast_shape((0, 1)))

    def infer_value(self) -> np.ndarray | None:
        values = known_values(self.input_values())
        numbers = [] if values is None else list(map(numbers_of, values))
        if not numbers or any(each is None for each in numbers) or not is_short(self.output(0)):
            return None
        return np.asarray(self.combine(*numbers), bool)


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
