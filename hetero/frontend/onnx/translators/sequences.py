"""Sequences and optional values."""

from __future__ import annotations

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.onnx.node_context import OnnxNodeContext
from hetero.frontend.onnx.registry import register_direct, translator
from hetero.frontend.translation.node_context import REQUIRED
from hetero.frontend.translation.translators import Translation
from hetero.system.errors import FrontendError

# Operators without attributes.
_DIRECT = {
    "SequenceAt": ops.SequenceAt, "SequenceErase": ops.SequenceErase, "SequenceInsert": ops.SequenceInsert,
    "SequenceLength": ops.SequenceLength, "OptionalGetElement": ops.OptionalGetElement,
    "OptionalHasElement": ops.OptionalHasElement,
}  # fmt: skip


register_direct({"ConcatFromSequence": ops.ConcatFromSequence}, 1, axis=REQUIRED, new_axis=0)


@translator(*_DIRECT)
def direct(node: OnnxNodeContext) -> Translation:
    inputs = [node.get_input(index) for index in range(node.get_input_size()) if node.has_input(index)]
    return _DIRECT[node.get_op_type()](*inputs)


@translator("SequenceConstruct")
def sequence_construct(node: OnnxNodeContext) -> Translation:
    return ops.SequenceConstruct(node.get_inputs())


@translator("SequenceEmpty")
def sequence_empty(node: OnnxNodeContext) -> Translation:
    return ops.SequenceEmpty(node.get_type_attribute("dtype", Type.f32))


@translator("SplitToSequence")
def split_to_sequence(node: OnnxNodeContext) -> Translation:
    axis, keep = node.get_attribute("axis", 0), bool(node.get_attribute("keepdims", 1))
    return ops.SplitToSequence(node.get_input(0), node.get_optional_input(1), axis, keep)


@translator("Optional")
def optional(node: OnnxNodeContext) -> Translation:
    if node.has_input(0):
        return ops.Optional(node.get_input(0))
    if not node.has_attribute("type"):
        raise FrontendError("it needs an input or the attribute type")
    return ops.Optional(content_type=node.get_attribute("type")[0])
