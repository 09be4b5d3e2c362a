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
        path, inputs = [end], [iter(end._inputs)]
        while path:
            for read in inputs[-1]:
                source = read._source._node
                if source not in state:
                    state[source] = False
                    path.append(source)
                    inputs.append(iter(source._inputs))
                    break
                if not state[source]:
                    raise GraphError(f"the graph has a cycle through '{source.friendly_name}'")
            else:
                inputs.pop()
                order.append(path.pop())
                state[order[-1]] = True
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
