"""PriorBox and PriorBoxClustered. Their inputs are constants when a node is lowered, so the host computes the boxes."""

from __future__ import annotations

from hetero import ops
from hetero.reference.registry import evaluate
from hetero_opencl.kernels.common.registry import lowers
from hetero_opencl.kernels.movement.movement import copy_whole, shape_input
from hetero_opencl.lowering.lowering import Lowering


@lowers(ops.PriorBox, ops.PriorBoxV1, ops.PriorBoxClustered)
def prior_boxes(lowering: Lowering, node: ops.PriorBoxV1 | ops.PriorBoxClustered) -> None:
    """Upload the boxes that the reference computes, if constant folding has not replaced the node already."""
    (boxes,) = evaluate(node, [shape_input(node, index) for index in range(node.get_input_size())])
    copy_whole(lowering, lowering.constant(boxes), node.output(0), lowering.buffer(node.output(0)))
