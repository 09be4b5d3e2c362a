"""Values computed from Constants do not cross the cut, so no inference copies them between subgraphs.

Those that another device reads are folded before the partition: it knows these weights or shapes when it compiles. The
others, such as weights that are stored compressed, are computed by each subgraph that reads them.
"""

from __future__ import annotations

from collections.abc import Mapping, Set

from hetero.dispatch.devices import ListedDevice
from hetero.graph import Constant, Model, Node, is_terminal
from hetero.ops.checks import is_exact
from hetero.passes.constant_folding import FoldingBudget, constant_nodes, fold_node

# Factor by which folding may enlarge weights that are stored in a smaller type than they are computed in.
GROWTH = 8


def fold_across_cut(model: Model, device_of: Mapping[Node, ListedDevice]) -> tuple[set[Node], set[Node]]:
    """Fold values that shape inference knows, and values computed from Constants that another device reads.

    Returns the operations that are not needed any more, which are disconnected, and those that each subgraph that reads
    them is to run for itself.
    """
    before = model.get_ordered_ops()
    budget = FoldingBudget(before, GROWTH)
    shared, crossing = _shared_and_crossing(before, device_of)
    for node in before:
        if isinstance(node, Constant):
            continue
        if node in crossing or any(is_exact(output.value) for output in node.outputs()):
            fold_node(node, budget)
    removed = set(before) - set(model.get_ordered_ops())
    for node in removed:
        node.disconnect()
    return removed, _closed(shared, model)


def _closed(nodes: Set[Node], model: Model) -> set[Node]:
    """Return those of the nodes that depend on each other and Constants only: not all that should be is folded."""
    closed = set[Node]()
    for node in model.get_ordered_ops():
        if node in nodes and all(v.node in closed or isinstance(v.node, Constant) for v in node.input_values()):
            closed.add(node)
    return closed


def _shared_and_crossing(order: list[Node], device_of: Mapping[Node, ListedDevice]) -> tuple[set[Node], set[Node]]:
    """Return the nodes computed from Constants alone for readers on the same device, and those to fold.

    To be folded are those that another device reads, and all nodes that these depend on. What a Result reads is in
    neither: it runs once.
    """
    computed = {node for node in constant_nodes(order) if node in device_of}
    shared, crossing = set[Node](), set[Node]()
    for node in reversed(order):
        if node in computed:
            readers = [target.node for output in node.outputs() for target in output.get_target_inputs()]
            if any(r in crossing or (r in device_of and device_of[r] is not device_of[node]) for r in readers):
                crossing.add(node)
            elif readers and not any(map(is_terminal, readers)):
                shared.add(node)
    return shared, crossing
