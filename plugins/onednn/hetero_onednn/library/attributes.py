"""Attributes of primitives: post-ops, which a primitive applies to its results before it stores them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hetero.graph import Output
from hetero_onednn.library import api
from hetero_onednn.library.api import Argument, Handle, call, create
from hetero_onednn.library.descriptors import Descriptor


@dataclass(frozen=True)
class EltwiseOp:
    """A function of one operand."""

    algorithm: api.Eltwise
    alpha: float = 0.0
    beta: float = 0.0


@dataclass(frozen=True)
class BinaryOp:
    """A function of the running value, its first operand, and another value, which is broadcast."""

    algorithm: api.Binary
    operand: Output


@dataclass(frozen=True)
class PReluOp:
    """PRelu; ``slope`` is broadcast."""

    slope: Output


PostOp = EltwiseOp | BinaryOp | PReluOp


class _PostOps(Handle):
    destroyer = "post_ops_destroy"


class Attributes(Handle):
    """dnnl_primitive_attr_t: post-ops, with the descriptors of their operands, and scratchpads of the caller's."""

    destroyer = "primitive_attr_destroy"

    def __init__(self, post_ops: Sequence[tuple[PostOp, Descriptor | None]] = ()) -> None:
        super().__init__(create("primitive_attr_create"))
        call("primitive_attr_set_scratchpad_mode", self.handle, api.USER_SCRATCHPAD)
        if post_ops:
            chain = _PostOps(create("post_ops_create"))
            for op, operand in post_ops:
                if isinstance(op, EltwiseOp):
                    call("post_ops_append_eltwise", chain.handle, op.algorithm, op.alpha, op.beta)
                elif isinstance(op, BinaryOp):
                    assert operand is not None
                    call("post_ops_append_binary", chain.handle, op.algorithm, operand.handle)
                else:
                    assert operand is not None
                    mask = sum(1 << axis for axis, length in enumerate(operand.dims) if length > 1)
                    call("post_ops_append_prelu", chain.handle, mask)
            call("primitive_attr_set_post_ops", self.handle, chain.handle)

    def set_quantization(self, weights_mask: int, has_zero_point: bool) -> None:
        """Let the primitive read integers with scales: one for the data, and those of the weights along some axes."""
        call("primitive_attr_set_scales_mask", self.handle, Argument.src, 0)
        call("primitive_attr_set_scales_mask", self.handle, Argument.weights, weights_mask)
        if has_zero_point:
            call("primitive_attr_set_zero_points_mask", self.handle, Argument.src, 0)


def operand_argument(index: int, op: PostOp) -> int:
    """Return the argument of the operand of a post-op, by its index among all post-ops."""
    return Argument.post_op * (index + 1) | (Argument.weights if isinstance(op, PReluOp) else Argument.src_1)
