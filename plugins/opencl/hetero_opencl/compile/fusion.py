"""Fusion of operations into one kernel: the rules for the pass ``fuse_elementwise``."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.graph import Node, constant_array, is_constant
from hetero.passes import FusionRules
from hetero_opencl.kernels.elementwise.epilogue import takes_epilogue
from hetero_opencl.kernels.elementwise.expressions import is_elementwise
from hetero_opencl.kernels.linear.gemm import SMALL_INTEGERS
from hetero_opencl.kernels.movement.items import ChooseItems

_CONVOLUTIONS = (ops.Convolution, ops.GroupConvolution)


def _prologue(node: Node) -> Sequence[Node]:
    """Return the nodes that the kernels of a node run before it, and that have no other reader.

    These are Converts of small integers before a product of i32, with the Subtract of a zero point, and moves of
    rows before an attention, which reads them where they are.
    """
    if type(node) in (ops.ScaledDotProductAttention, ops.SoftmaxAttention):
        return _moves_of_rows(node)
    if type(node) not in (ops.MatMul, *_CONVOLUTIONS) or node.get_element_type() is not Type.i32:
        return []
    nodes: list[Node] = []
    for value in node.input_values():
        if _is_widening_convert(value.node):
            nodes.append(value.node)
        elif value.node is node.input_value(0).node and _takes_zero_point(node):
            nodes += [value.node.input_value(0).node, value.node]
    return nodes


def _moves_of_rows(attention: Node) -> Sequence[Node]:
    """Return the Transposes and Unsqueezes of queries, keys and values, and the ChooseItems of both keys and values."""
    chains: list[list[Node]] = [[], [], []]
    choices = []
    for chain, value in zip(chains, attention.input_values()):
        while _keeps_rows(value.node) and _has_one_reader(value.node):
            chain.insert(0, value.node)
            value = value.node.input_value(0)
        if type(value.node) is ChooseItems and _has_one_reader(value.node):
            choices.append((chain, value.node))
    if len(choices) == 2 and choices[0][1].input_value(1) == choices[1][1].input_value(1):
        for chain, choice in choices:
            chain.insert(0, choice)
    return [node for chain in chains for node in chain]


def _keeps_rows(node: Node) -> bool:
    """Return whether a node is a Transpose that leaves the last axis where it is, or adds axes before the last two."""
    if type(node) is ops.Transpose:
        order = constant_array(node.input_value(1))
        return order is not None and order.size > 0 and order[-1] == order.size - 1
    if type(node) is ops.Unsqueeze:
        axes, rank = constant_array(node.input_value(1)), len(node.shape)
        return axes is not None and all(axis % rank < rank - 2 for axis in axes.reshape(-1).tolist())
    return False


def _takes_zero_point(convolution: Node) -> bool:
    """Return whether the image is small integers minus a constant of their range, and the filters are constant."""
    subtract = convolution.input_value(0).node
    if type(convolution) not in _CONVOLUTIONS or type(subtract) is not ops.Subtract or not _has_one_reader(subtract):
        return False
    number, zero_point = subtract.input_value(0), constant_array(subtract.input_value(1))
    if not _is_widening_convert(number.node) or zero_point is None or not is_constant(convolution.input_value(1)):
        return False
    limits = np.iinfo(number.node.get_input_element_type(0).to_dtype())
    return zero_point.size == 1 and limits.min <= zero_point.item() <= limits.max


def _is_widening_convert(node: Node) -> bool:
    return type(node) is ops.Convert and node.get_input_element_type(0) in SMALL_INTEGERS and _has_one_reader(node)


def _has_one_reader(node: Node) -> bool:
    return len(node.output(0).get_target_inputs()) == 1


FUSION_RULES = FusionRules(is_elementwise, takes_epilogue, _prologue)
