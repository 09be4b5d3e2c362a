"""Calls of functions."""

from __future__ import annotations

from hetero.frontend.tensorflow.handles import Values
from hetero.frontend.tensorflow.node_context import TensorflowNodeContext
from hetero.frontend.tensorflow.registry import translator


@translator("PartitionedCall", "StatefulPartitionedCall", "RemoteCall")
def call(node: TensorflowNodeContext) -> Values:
    """Inline the function. The first input of RemoteCall is the name of a device."""
    inputs = node.get_values()
    return node.get_subgraph(0).inline_values(inputs[node.get_op_type() == "RemoteCall" :], node.name)
