"""Upgrade of operations to their newest version, the only one that devices and other passes need to know."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hetero import ops
from hetero.graph import Constant, Model, Node, Op
from hetero.passes.manager import keeps_values
from hetero.passes.matching.rewriting import replace, rewrite_each

# The newest version takes the same inputs and attributes.
_SAME_INPUTS: dict[type[Op], type[Op]] = {
    ops.GatherV1: ops.Gather, ops.GatherV7: ops.Gather, ops.OneHotV1: ops.OneHot, ops.PadV1: ops.Pad,
    ops.ScatterElementsUpdateV3: ops.ScatterElementsUpdate, ops.ScatterNDUpdateV4: ops.ScatterNDUpdate,
    ops.ShapeOfV1: ops.ShapeOf, ops.SoftmaxV1: ops.Softmax, ops.SqueezeV1: ops.Squeeze, ops.TopKV1: ops.TopK,
    ops.TopKV3: ops.TopK,
}  # fmt: skip


def _batch_norm_inference(node: ops.BatchNormInferenceV1) -> Node:
    gamma, beta, data, mean, variance = node.input_values()
    return ops.BatchNormInference(data, gamma, beta, mean, variance, node.epsilon)


def _broadcast(node: ops.BroadcastV1) -> Node:
    inputs = node.input_values() if node.mode == "none" else node.input_values()[:2]
    return ops.Broadcast(*inputs, broadcast_spec=node.broadcast_spec)


def _mvn(node: ops.MVNV2) -> Node | None:
    if node.reduction_axes is None:
        return None  # unknown rank
    axes = Constant(np.array(node.reduction_axes, np.int64), name=f"{node.friendly_name}/axes")
    return ops.MVN(node.input_value(0), axes, node.normalize_variance, node.eps, node.eps_mode)


def _convert_like(node: ops.ConvertLike) -> Node | None:
    """Convert to the type of the second input, which then need not be computed."""
    target = node.get_output_element_type(0)
    return ops.Convert(node.input_value(0), target) if target.is_static() else None


_OTHERS: dict[type[Op], Callable[[Any], Node | None]] = {
    ops.BatchNormInferenceV1: _batch_norm_inference,
    ops.BroadcastV1: _broadcast,
    ops.ConvertLike: _convert_like,
    ops.GeluV2: lambda node: ops.Gelu(node.input_value(0), "erf"),
    ops.MVNV2: _mvn,
    ops.RangeV1: lambda node: (
        ops.Range(*node.input_values(), node.output_type) if node.output_type.is_static() else None
    ),
}

# The operations that are replaced.
UPGRADED = (*_SAME_INPUTS, *_OTHERS)


@keeps_values
def upgrade_opset(model: Model) -> bool:
    """Replace operations of older versions by the newest that does the same.

    Covers the operations in the tables above, except a Range-1 of unknown type and an MVN-2 of unknown rank.
    """
    return rewrite_each(model, UPGRADED, _upgrade)


def _upgrade(node: Op) -> bool:
    cls = _SAME_INPUTS.get(type(node))
    newest = cls.of(node.input_values(), node.attribute_values()) if cls else _OTHERS[type(node)](node)
    if newest is None:
        return False
    replace([node], newest)
    return True
