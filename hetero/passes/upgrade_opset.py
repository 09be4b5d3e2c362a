"""Older versions of operations as the newest, so that devices and other passes need to know only that one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hetero import ops
from hetero.graph import Constant, Model, Node, Op
from hetero.graph.runtime_info import copy_runtime_info

# The newest takes the same inputs, the same attributes, and these.
_SAME_INPUTS: dict[type[Op], tuple[type[Op], dict[str, Any]]] = {
    ops.GatherV1: (ops.Gather, {}),
    ops.GatherV7: (ops.Gather, {}),
    ops.GeluV2: (ops.Gelu, {"approximation_mode": "erf"}),
    ops.OneHotV1: (ops.OneHot, {}),
    ops.PadV1: (ops.Pad, {}),
    ops.ScatterElementsUpdateV3: (ops.ScatterElementsUpdate, {}),
    ops.ScatterNDUpdateV4: (ops.ScatterNDUpdate, {}),
    ops.ShapeOfV1: (ops.ShapeOf, {}),
    ops.SoftmaxV1: (ops.Softmax, {}),
    ops.SqueezeV1: (ops.Squeeze, {}),
    ops.TopKV1: (ops.TopK, {}),
    ops.TopKV3: (ops.TopK, {}),
}


def _batch_norm_inference(node: ops.BatchNormInferenceV1) -> Node:
    gamma, beta, data, mean, variance = node.input_values()
    return ops.BatchNormInference(data, gamma, beta, mean, variance, node.epsilon)


def _broadcast(node: ops.BroadcastV1) -> Node:
    inputs = node.input_values() if node.mode == "none" else node.input_values()[:2]
    return ops.Broadcast(*inputs, broadcast_spec=node.broadcast_spec)


def _mvn(node: ops.MVNV2) -> Node | None:
    if node.reduction_axes is None:
        return None  # the rank is not known
    axes = Constant(np.array(node.reduction_axes, np.int64), name=f"{node.friendly_name}/axes")
    return ops.MVN(node.input_value(0), axes, node.normalize_variance, node.eps, node.eps_mode)


def _range(node: ops.RangeV1) -> Node | None:
    return ops.Range(*node.input_values(), node.output_type) if node.output_type.is_static() else None


def _convert_like(node: ops.ConvertLike) -> Node | None:
    """What it is like need not be computed then."""
    target = node.get_output_element_type(0)
    return ops.Convert(node.input_value(0), target) if target.is_static() else None


_OTHERS: dict[type[Op], Callable[[Any], Node | None]] = {
    ops.BatchNormInferenceV1: _batch_norm_inference, ops.BroadcastV1: _broadcast, ops.MVNV2: _mvn, ops.RangeV1: _range,
    ops.ConvertLike: _convert_like,
}  # fmt: skip


def upgrade_opset(model: Model) -> bool:
    """Put the newest version of an operation, under its name, in the place of older ones that say the same.

    Requires nothing. Ensures: of the operations in the tables above none is left, but for a Range-1 of unknown type
    and an MVN-2 of unknown rank.
    """
    changed = False
    for node in model.get_ordered_ops():
        newest = _newest(node)
        if newest is None:
            continue
        copy_runtime_info([node], newest)
        newest.friendly_name = node.friendly_name
        for old, new in zip(node.outputs(), newest.outputs()):
            old.replace(new)
        node.disconnect()
        changed = True
    return changed


def _newest(node: Node) -> Node | None:
    if type(node) in _SAME_INPUTS:
        cls, more = _SAME_INPUTS[type(node)]
        return cls.of(node.input_values(), node.get_attributes() | more)
    make = _OTHERS.get(type(node))
    return make(node) if make else None
