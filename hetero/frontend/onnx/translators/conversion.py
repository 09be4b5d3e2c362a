"""Conversions between element types."""

from __future__ import annotations

from onnx import TensorProto

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.onnx.node_context import OnnxNodeContext
from hetero.frontend.onnx.registry import translator
from hetero.frontend.onnx.tensors import element_type
from hetero.frontend.translation.translators import Translation
from hetero.system.errors import FrontendError


@translator("Cast")
def cast_1(node: OnnxNodeContext) -> Translation:
    # In operator set 1 the target type is a string.
    name = node.get_attribute("to")
    if name not in dict(TensorProto.DataType.items()):
        raise FrontendError(f"there is no element type {name}")
    return _cast(node, element_type(TensorProto.DataType.Value(name)))


@translator("Cast", since=6)
def cast(node: OnnxNodeContext) -> Translation:
    return _cast(node, element_type(node.get_attribute("to")))


@translator("CastLike", since=15)
def cast_like(node: OnnxNodeContext) -> Translation:
    return _cast(node, node.get_input(1).element_type)


def _cast(node: OnnxNodeContext, target: Type) -> Translation:
    value = node.get_input(0)
    narrow = target.is_real() and target.bitwidth <= 8
    if narrow or Type.string in (value.element_type, target):
        saturate, mode = bool(node.get_attribute("saturate", 1)), node.get_attribute("round_mode", "up")
        return ops.Cast(value, target, saturate, mode)
    return ops.Convert(value, target)


@translator("BitCast", since=26)
def bit_cast(node: OnnxNodeContext) -> Translation:
    return ops.BitCast(node.get_input(0), element_type(node.get_attribute("to")))
