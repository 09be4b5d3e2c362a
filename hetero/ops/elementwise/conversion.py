"""Element type conversions and fake quantization."""

from __future__ import annotations

from typing import Any

import numpy as np

from hetero.core.types import Type
from hetero.graph import Attribute, Op, choice
from hetero.ops.checks import (
    all_fit,
    check_type,
    common_type,
    input_name,
    is_computed_real,
    is_exact,
    known_values,
    numpy_or_none,
)
from hetero.ops.elementwise.arithmetic import BroadcastOp
from hetero.system.errors import GraphError


class _Conversion(Op):
    """Base of element type conversions to ``target()``; the output has the shape of the data."""

    input_names: tuple[str, ...] = ("data",)
    destination_type: Any

    def target(self) -> Type:
        return self.destination_type

    def validate_and_infer_types(self) -> None:
        self.set_output_type(0, self.target(), self.get_input_partial_shape(0))

    def infer_value(self) -> np.ndarray | None:
        values, target = known_values(self.input_values()[:1]), self.target()
        if values is None or not (target.is_integer() or target is Type.boolean) or target.bitwidth < 8:
            return None
        if is_exact(values[0]):
            return np.asarray(values[0]).astype(target.to_dtype())
        return values[0] if all_fit(values[0], target.to_dtype()) else None


class Convert(_Conversion, opset=1):
    """Conversion to another element type with C++ semantics; values too large for an f8 type become NaN or infinity.

    - ``destination_type``: the element type of the output.
    """

    destination_type = Attribute(Type)


class ConvertLike(_Conversion, opset=1):
    """Conversion to the element type of the input ``like``."""

    input_names = ("data", "like")

    def target(self) -> Type:
        return self.get_input_element_type(1)


class Cast(_Conversion):
    """Conversion to another element type, including strings, with ONNX semantics.

    With ``saturate``, values out of the range of an f8 type become its largest number. ``round_mode`` applies to
    f8e8m0, whose numbers are powers of two.

    - ``destination_type``: the element type of the output.
    """

    destination_type = Attribute(Type)
    saturate = Attribute(bool, True)
    round_mode = Attribute(choice("up", "down", "nearest"), "up")


class BitCast(Op):
    """Reinterpretation of the bits as another element type of the same width.

    - ``destination_type``: the element type of the output, which has the shape of the data.
    """

    input_names = ("data",)
    destination_type = Attribute(Type)

    def validate_and_infer_types(self) -> None:
        source = self.get_input_element_type(0)
        if source.is_static() and source.bitwidth != self.destination_type.bitwidth:
            self.fail(f"{source} and {self.destination_type} have elements of different size")
        self.set_output_type(0, self.destination_type, self.get_input_partial_shape(0))


class ConvertPromoteTypes(Op, opset=14):
    """Conversion of both inputs to their common element type.

    If no type represents all numbers of both, shape inference raises GraphError, or takes the nearest type if
    ``promote_unsafe`` is set. With ``pytorch_scalar_promotion`` a scalar takes the other input's type, unless its own
    kind is higher (boolean < integer < float). u64 and a signed integer become ``u64_integer_promotion_target``.
    """

    input_names = ("left_node", "right_node")
    promote_unsafe = Attribute(bool, False)
    pytorch_scalar_promotion = Attribute(bool, False)
    u64_integer_promotion_target = Attribute(Type, "f32")
    output_size = 2

    def validate_and_infer_types(self) -> None:
        target = self._target(self.get_input_element_type(0), self.get_input_element_type(1))
        for index in (0, 1):
            self.set_output_type(index, target, self.get_input_partial_shape(index))

    def _target(self, left: Type, right: Type) -> Type:
        if left == right or left.is_dynamic() or right.is_dynamic():
            return left if left == right else Type.dynamic
        if (self.pytorch_scalar_promotion and _kind(left) != _kind(right)) or Type.boolean in (left, right):
            high, low = (left, right) if _kind(left) > _kind(right) else (right, left)
            if low is Type.boolean:
                return high
        if self.pytorch_scalar_promotion:
            scalars = [self.get_input_partial_shape(index) == [] for index in (0, 1)]
            if scalars[0] != scalars[1]:
                tensor, scalar = (right, left) if scalars[0] else (left, right)
                if _kind(tensor) >= _kind(scalar):
                    if not self.promote_unsafe and not _accepts_scalar(tensor, scalar):
                        self.fail(f"{tensor} cannot represent all numbers of {scalar}; set promote_unsafe to allow it")
                    return tensor
        return self._checked_target(left, right, self._wider(left, right))

    def _checked_target(self, left: Type, right: Type, target: Type) -> Type:
        # If neither type represents the other's numbers, a third type is used only with promote_unsafe.
        third = target not in (left, right)
        if not self.promote_unsafe and (third or not (_represents(target, left) and _represents(target, right))):
            self.fail(f"{left} and {right} have no common type; set promote_unsafe to convert both to {target}")
        return target

    def _wider(self, left: Type, right: Type) -> Type:
        if left.is_real() != right.is_real():
            return left if left.is_real() else right
        narrow, wide = sorted((left, right), key=lambda kind: kind.bitwidth)
        if left.is_real():
            return wide if narrow.bitwidth < wide.bitwidth else Type(f"f{2 * wide.bitwidth}")
        signed, unsigned = (left, right) if left.is_signed() else (right, left)
        if left.is_signed() == right.is_signed() or signed.bitwidth > unsigned.bitwidth:
            return wide
        return self.u64_integer_promotion_target if unsigned is Type.u64 else Type(f"i{2 * unsigned.bitwidth}")


def _accepts_scalar(tensor: Type, scalar: Type) -> bool:
    """Return whether a scalar converts safely to the tensor's type.

    As in OpenVINO, a signed tensor also accepts an unsigned scalar of up to twice its bits.
    """
    if tensor.is_real() and not scalar.is_real():
        return _represents(tensor, scalar)
    if tensor.is_signed() != scalar.is_signed():
        return tensor.is_signed() and scalar.bitwidth <= 2 * tensor.bitwidth
    return tensor.bitwidth >= scalar.bitwidth


def _kind(element_type: Type) -> int:
    return 2 if element_type.is_real() else 0 if element_type is Type.boolean else 1


def _represents(target: Type, source: Type) -> bool:
    """Return whether a type represents all numbers of another; a float does for integers of up to half its bits."""
    if target == source or source is Type.boolean:
        return True
    if target.is_real() and not source.is_real():
        return target.bitwidth >= 2 * source.bitwidth
    if target.is_real() != source.is_real() or target.bitwidth <= source.bitwidth:
        return False
    return target.is_real() or target.is_signed() or not source.is_signed()


class FakeConvert(Op, opset=13):
    """data · scale - shift rounded to an f8 type with saturation, and converted back to the original range and type.

    scale and shift broadcast to data; the output has the shape and element type (f32, f16, bf16) of data.

    - ``destination_type``: the f8 type whose numbers remain.
    """

    input_names = ("data", "scale", "shift?")
    destination_type = Attribute(choice("f8e4m3", "f8e5m2"), "f8e4m3")

    def validate_and_infer_types(self) -> None:
        check_type(self, range(self.get_input_size()), is_computed_real, "f32, f16 or bf16")
        element_type = common_type(self, range(self.get_input_size()))
        data = self.get_input_partial_shape(0)
        for index in range(1, self.get_input_size()):
            other = self.get_input_partial_shape(index)
            try:
                broadcast = data.broadcast(other)
            except GraphError as error:
                self.fail(str(error))
            if data.has_rank and other.has_rank and not data.compatible(broadcast):
                self.fail(f"{input_name(self, index)} {other} must broadcast to data {data}")
        if self.has_input("shift") and not self.get_input_partial_shape(1).compatible(self.get_input_partial_shape(2)):
            shapes = f"{self.get_input_partial_shape(1)} and {self.get_input_partial_shape(2)}"
            self.fail(f"scale and shift must have the same shape, but have {shapes}")
        self.set_output_type(0, element_type, data)


class FakeQuantize(BroadcastOp, opset=1):
    """Data quantized to ``levels`` values from input_low to input_high, then scaled to output_low … output_high."""

    input_names = ("data", "input_low", "input_high", "output_low", "output_high")
    levels = Attribute(int)
    auto_broadcast = Attribute(numpy_or_none, "NUMPY")

    def validate_and_infer_types(self) -> None:
        if self.levels < 2:
            self.fail(f"levels must be 2 or more, but is {self.levels}")
        self.set_output_type(0, common_type(self, range(5)), self.broadcast_shape(range(5)))
