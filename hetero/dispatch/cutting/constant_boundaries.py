"""Constant folding across the cut: values that are known at compile time become Constants before the partition.

So no inference computes them or copies them between devices, and the devices that read weights or shapes know them when
they compile.
"""

from __future__ import annotations

from collections.abc import Mapping

from hetero.dispatch.devices import ListedDevice
from hetero.graph import Constant, Model, Node
from hetero.ops.checks import is_exact
from hetero.passes.constant_folding import FoldingBudget, constant_nodes, fold_node

# Factor by which folding may enlarge weights that are stored in a smaller type than they are computed in.
GROWTH = 8


def fold_across_cut(model: Model, device_of: Mapping[Node, ListedDevice]) -> set[Node]:
    """Fold values that shape inference knows, and values computed from Constants that another device reads.

    Values computed from Constants for readers on the same device are left to that device. Returns the operations that
    are not needed any more; they are disconnected.
    """
    before = model.get_ordered_ops()
    budget = FoldingBudget(before, GROWTH)
    crossing = _constant_and_crossing(before, device_of)
    for node in before:
        if isinstance(node, Constant):
            continue
        if node in crossing or any(is_exact(output.value) for output in node.outputs()):
            fold_node(node, budget)
    removed = set(before) - set(model.get_ordered_ops())
    for node in removed:
        node.disconnect()
    return removed


def _constant_and_crossing(order: list[Node], device_of: Mapping[Node, ListedDevice]) -> set[Node]:
    """Return the nodes computed from Constants alone that another device reads, and all nodes that these depend on."""
    computed = {node for node in constant_nodes(order) if node in device_of}
    crossing: set[Node] = set()
    for node in reversed(order):
        if node in computed:
            readers = [target.node for output in node.outputs() for target in output.get_target_inputs()]
            if any(r in crossing or (r in device_of and device_of[r] is not device_of[node]) for r in readers):
                crossing.add(node)
    return crossing
