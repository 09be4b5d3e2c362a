"""Topological order of a graph, and a walk over nested graphs, both without recursion."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from hetero.graph.node import Node
from hetero.system.errors import GraphError


def topological_order(ends: Iterable[Node]) -> list[Node]:
    """Return the given nodes and all that they depend on, sources first, in time linear in nodes and edges.

    Raises GraphError if the graph has a cycle.
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
                source_node = source.node
                if source_node not in state:
                    state[source_node] = False
                    path.append((source_node, iter(source_node.input_values())))
                    break
                if not state[source_node]:
                    raise GraphError(f"the graph has a cycle through '{source_node.friendly_name}'")
            else:
                path.pop()
                state[node] = True
                order.append(node)
    return order


def walk_nested(nodes: Iterable[Node]) -> Iterator[Node]:
    """Yield the nodes, and those in their bodies at any depth."""
    iterators = [iter(nodes)]
    while iterators:
        node = next(iterators[-1], None)
        if node is None:
            iterators.pop()
            continue
        yield node
        iterators += [iter(body.get_ordered_ops()) for body in node.bodies]
