"""Dead code elimination."""

from __future__ import annotations

from hetero.graph import Model


def eliminate_dead_code(model: Model) -> bool:
    """Disconnect nodes that read values of the model but lead to no result or sink.

    Every reader of a value is then a node of the model, so fusions that need a value with one reader apply.
    """
    live = set(model.get_ordered_ops())
    dead = [
        target.node
        for node in live
        for output in node.outputs()
        for target in output.get_target_inputs()
        if target.node not in live
    ]
    for node in dead:
        node.disconnect()
    return bool(dead)
