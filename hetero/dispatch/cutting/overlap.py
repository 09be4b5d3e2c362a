"""Split subgraphs so that devices work at the same time.

The smallest number of subgraphs may make a device wait without need. Example: two branches on two devices meet on the
second one. The second device would compute its branch and the operations after the meeting point in one subgraph, and
so would wait for the first device before it begins.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hetero.dispatch.cutting.subgraph_order import ColoredGraph, Subgraphs

# A subgraph is split if the split saves at least this part of the total time and at least these seconds: threads that
# wait for each other cost time too.
MIN_PART_SAVED = 0.05
MIN_SECONDS_SAVED = 200e-6


def split_for_overlap(graph: ColoredGraph, subgraphs: Subgraphs, estimate: Callable[[], Sequence[float]]) -> Subgraphs:
    """Split subgraphs whose nodes wait for different subgraphs, where that saves time. Linear in nodes and edges.

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
