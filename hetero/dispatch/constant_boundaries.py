"""What is known before the cut is known after it: Constants in the place of values that are known already.

So none of them is computed, or sent from device to device, at each inference, and devices that want to know weights or
shapes in advance do.
"""

from __future__ import annotations

from collections.abc import Mapping

from hetero.dispatch.affinity import Device
from hetero.graph import Constant, Model, Node
from hetero.ops.values import is_exact
from hetero.passes.constant_folding import FoldingBudget, constant_nodes, fold_node

# Weights that are kept in a smaller type than they are computed with may grow by this where another device reads them.
GROWTH = 8


def fold_across_cut(model: Model, device_of: Mapping[Node, Device]) -> set[Node]:
    """Fold values that shape inference knows, and what is computed from Constants and read on another device.

    What is computed from Constants and read on the same device is left to that. Returns the operations that are no
    longer needed, which are disconnected.
    """
    before = model.get_ordered_ops()
    budget = FoldingBudget(before, GROWTH)
    crossing = _constants_that_cross(before, device_of)
    for node in before:
        if isinstance(node, Constant):
            continue
        if node in crossing or any(is_exact(output.value) for output in node.outputs()):
            fold_node(node, budget)
    gone = set(before) - set(model.get_ordered_ops())
    for node in gone:
        node.disconnect()
    return gone


def _constants_that_cross(order: list[Node], device_of: Mapping[Node, Device]) -> set[Node]:
    """The nodes that depend on Constants alone and are read on another device, and those that these depend on."""
    computed = {node for node in constant_nodes(order) if node in device_of}
    crossing: set[Node] = set()
    for node in reversed(order):
        if node in computed:
            readers = [target.node for output in node.outputs() for target in output.get_target_inputs()]
            if any(r in crossing or (r in device_of and device_of[r] is not device_of[node]) for r in readers):
                crossing.add(node)
    return crossing
