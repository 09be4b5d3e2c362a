"""Take away what no result needs."""

from __future__ import annotations

from hetero.graph import Model


def eliminate_dead_code(model: Model) -> bool:
    """Disconnect the nodes that read values of the model without adding to its results.

    Requires nothing. Ensures: every reader of a value is itself a node of the model, so that values which only dead
    nodes read have no readers, and fusions are not held up by them.
    """
    living = set(model.get_ordered_ops())
    waiting = [
        target.node
        for node in living
        for output in node.outputs()
        for target in output.get_target_inputs()
        if target.node not in living
    ]
    for node in waiting:
        node.disconnect()
    return bool(waiting)
