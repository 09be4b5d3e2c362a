"""Topological order of a graph, without recursion."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from hetero.errors import GraphError
from hetero.graph.node import Node


def topological_order(ends: Iterable[Node]) -> list[Node]:
    """All nodes that the given ones depend on, and these: sources first, linear in nodes and edges.

    Raises GraphError when the graph has a cycle.
    """
    order: list[Node] = []
    state: dict[Node, bool] = {}  # absent: not seen; False: being visited; True: done
    for end in ends:
        if end in state:
            continue
        state[end] = False
        path = [(end, iter(end.input_values()))]
        while path:
            node, sources = path[-1]
            for source in sources:
                other = source.node
                if other not in state:
                    state[other] = False
                    path.append((other, iter(other.input_values())))
                    break
                if not state[other]:
                    raise GraphError(f"the graph has a cycle through '{other.friendly_name}'")
            else:
                path.pop()
                state[node] = True
                order.append(node)
    return order


def walk_nested(nodes: Iterable[Node]) -> Iterator[Node]:
    """The nodes, and all that are in the bodies of these, and in the bodies of those."""
    waiting = [iter(nodes)]
    while waiting:
        node = next(waiting[-1], None)
        if node is None:
            waiting.pop()
            continue
        yield node
        waiting += [iter(body.get_ordered_ops()) for body in node.bodies if body is not None]
