"""Values computed from Constants do not cross the cut, so no inference copies them between subgraphs.

Each subgraph computes for itself those that it reads, such as weights that it decompresses, if its device can. The
others are folded before the partition: the devices that read these weights or shapes know them when they compile.
"""

from __future__ import annotations

from collections.abc import Mapping

from hetero.dispatch.devices import ListedDevice
from hetero.dispatch.placement.affinity import Placed
from hetero.graph import Constant, Model, Node, is_terminal
from hetero.ops.checks import is_exact
from hetero.passes.constant_folding import FoldingBudget, constant_nodes, fold_node
from hetero.plugin import QueryResult

# Factor by which folding may enlarge weights that are stored in a smaller type than they are computed in.
GROWTH = 8


def fold_across_cut(
    model: Model, placed: Mapping[Node, Placed], queries: Mapping[str, QueryResult]
) -> tuple[set[Node], set[Node]]:
    """Fold values that shape inference knows, and values computed from Constants that would cross the cut.

    Returns the operations that are not needed any more, which are disconnected, and those that each subgraph that reads
    them is to run for itself. ``queries`` has the operations that each device supports, by its name.
    """
    before = model.get_ordered_ops()
    budget = FoldingBudget(before, GROWTH)
    shared, crossing = _shared_and_crossing(before, placed, queries)
    for node in before:
        if isinstance(node, Constant):
            continue
        if node in crossing or any(is_exact(output.value) for output in node.outputs()):
            fold_node(node, budget)
    removed = set(before) - set(model.get_ordered_ops())
    for node in removed:
        node.disconnect()
    return removed, shared - removed


def _shared_and_crossing(
    order: list[Node], placed: Mapping[Node, Placed], queries: Mapping[str, QueryResult]
) -> tuple[set[Node], set[Node]]:
    """Return the nodes computed from Constants alone that all devices that read them can run, and those to fold.

    To be folded are those that another device reads, and all nodes that these depend on. What a Result reads is in
    neither: it runs once, on its own device.
    """
    computed = constant_nodes(order)
    devices_of: dict[Node, set[ListedDevice]] = {}
    crossing: set[Node] = set()
    for node in reversed(order):
        if node not in computed or node not in placed:
            continue
        readers = [target.node for output in node.outputs() for target in output.get_target_inputs()]
        devices = set[ListedDevice]()
        for reader in readers:
            if reader in placed:
                devices |= devices_of.get(reader, {placed[reader].device})
        others = devices - {placed[node].device}
        can_all = all(node.friendly_name in queries[device.name] for device in others)
        if crossing.intersection(readers) or (others and (placed[node].is_pinned or not can_all)):
            crossing.add(node)
        elif readers and not any(map(is_terminal, readers)):
            devices_of[node] = devices
    return set(devices_of), crossing
