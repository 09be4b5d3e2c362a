"""Order subgraphs so that their number is small, and split them so that devices overlap.

Works on a colored DAG: nodes are operations, colors are devices.

A subgraph holds nodes of one color whose sources are in the same or in earlier subgraphs, so subgraphs never wait for
each other in a cycle. It loses nothing by taking every node that is ready, so the sequence of colors determines it.

The lower bound is one more than the largest number of color changes on any path. The rule here is that the color comes
next whose nodes have the longest way (in color changes) before them. With two colors it reaches the bound or misses it
by one. With more colors the minimum is as hard to find as the shortest common supersequence.

A beam search, and the same rule applied backwards, were measured on the 26 models of tests/zoo.py on three and four
devices and removed: with every operation type on a random device they saved 35 of 49,005 subgraphs in 416 placements.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

#: The color and the nodes of each subgraph, in order.
Subgraphs = list[tuple[int, list[int]]]


class ColoredGraph:
    """Nodes 0 … n-1 in topological order, each with a color 0 … colors-1 and the nodes that it reads."""

    def __init__(self, color: Sequence[int], sources: Sequence[Sequence[int]]) -> None:
        self.color = color
        self.sources = sources
        self.colors = max(color, default=-1) + 1
        self.readers: list[list[int]] = [[] for _ in sources]
        for node, own_sources in enumerate(sources):
            for source in own_sources:
                self.readers[source].append(node)

    def heights(self) -> list[int]:
        """Return for each node the largest number of color changes on a path that begins at it."""
        color, heights = self.color, [0] * len(self.color)
        for node in range(len(color) - 1, -1, -1):
            own, height = color[node], heights[node]
            for source in self.sources[node]:
                reached = height + (color[source] != own)
                if reached > heights[source]:
                    heights[source] = reached
        return heights


def order_subgraphs(graph: ColoredGraph) -> Subgraphs:
    """Return subgraphs that hold each node once, as early as possible. Linear in nodes and edges.

    The next color is that of the ready node with the largest height; of several colors, the one with most ready nodes.
    """
    heights, color, readers = graph.heights(), graph.color, graph.readers
    waiting_for = [len(sources) for sources in graph.sources]
    ready: list[list[int]] = [[] for _ in range(graph.colors)]
    highest = [-1] * graph.colors  # of the ready nodes of each color

    def add_ready(node: int) -> None:
        ready[color[node]].append(node)
        highest[color[node]] = max(highest[color[node]], heights[node])

    for node, count in enumerate(waiting_for):
        if not count:
            add_ready(node)
    subgraphs: Subgraphs = []
    remaining = len(color)
    while remaining:
        own = max(range(graph.colors), key=lambda color: (highest[color], len(ready[color])))
        taken, ready[own], highest[own] = ready[own], [], -1
        for node in taken:  # grows during the loop
            for reader in readers[node]:
                waiting_for[reader] -= 1
                if not waiting_for[reader]:
                    if color[reader] == own:
                        taken.append(reader)
                    else:
                        add_ready(reader)
        remaining -= len(taken)
        subgraphs.append((own, sorted(taken)))
    return subgraphs


# A subgraph is split if the split saves at least this part of the total time and at least these seconds: threads that
# wait for each other cost time too.
MIN_PART_SAVED = 0.05
MIN_SECONDS_SAVED = 200e-6


def split_for_overlap(graph: ColoredGraph, subgraphs: Subgraphs, estimate: Callable[[], Sequence[float]]) -> Subgraphs:
    """Split subgraphs whose nodes wait for different subgraphs, so that devices work at the same time.

    The smallest number of subgraphs may make a device wait without need. Example: two branches on two devices meet on
    the second one. The second device would compute its branch and the operations after the meeting point in one
    subgraph, and so would wait for the first device before it begins. Linear in nodes and edges.

    ``estimate`` returns the seconds of each node; it is called only if there is something to split.
    """
    subgraph_of = [0] * len(graph.color)
    for index, (_, nodes) in enumerate(subgraphs):
        for node in nodes:
            subgraph_of[node] = index
    waits_for = _last_awaited(graph, subgraph_of)
    if all(waits_for[node] == waits_for[nodes[0]] for _, nodes in subgraphs for node in nodes):
        return subgraphs
    seconds = estimate()
    threshold = max(MIN_SECONDS_SAVED, MIN_PART_SAVED * sum(seconds))
    begins = [0.0]  # total seconds of all subgraphs before each
    for _, nodes in subgraphs:
        begins.append(begins[-1] + sum(seconds[node] for node in nodes))
    early: dict[int, Subgraphs] = {}  # by the subgraph after which they can begin
    late: Subgraphs = []
    for index, (color, nodes) in enumerate(subgraphs):
        split = _best_split(nodes, waits_for, index, seconds, begins, threshold)
        late.append((color, [node for node in nodes if waits_for[node] > split]))
        if len(late[-1][1]) < len(nodes):
            early.setdefault(split, []).append((color, [node for node in nodes if waits_for[node] <= split]))
    return early.get(-1, []) + [subgraph for index, own in enumerate(late) for subgraph in (own, *early.get(index, []))]


def _last_awaited(graph: ColoredGraph, subgraph_of: Sequence[int]) -> list[int]:
    """Return the last earlier subgraph that each node waits for, directly or through its own subgraph; -1 for none."""
    waits_for = [-1] * len(subgraph_of)
    for node, sources in enumerate(graph.sources):
        own = subgraph_of[node]
        for source in sources:
            awaited = waits_for[source] if subgraph_of[source] == own else subgraph_of[source]
            if awaited > waits_for[node]:
                waits_for[node] = awaited
    return waits_for


def _best_split(
    nodes: Sequence[int],
    waits_for: Sequence[int],
    index: int,
    seconds: Sequence[float],
    begins: Sequence[float],
    threshold: float,
) -> int:
    """Return the subgraph after which the first part should begin so that most work overlaps; -2 for no split."""
    seconds_after: dict[int, float] = {}
    for node in nodes:
        seconds_after[waits_for[node]] = seconds_after.get(waits_for[node], 0.0) + seconds[node]
    most, best, early_seconds = threshold, -2, 0.0
    for awaited in sorted(seconds_after)[:-1]:
        early_seconds += seconds_after[awaited]
        others_meanwhile = begins[index] - begins[awaited + 1]
        overlapping = min(early_seconds, others_meanwhile)
        if overlapping >= most:
            most, best = overlapping, awaited
    return best
