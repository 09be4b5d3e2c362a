"""Splitting turns so that devices work at the same time.

The fewest turns may make a device wait that need not. Of two branches, each on a device, which meet on the second one,
the second device takes its branch and where they meet in one turn, and so waits for the first one to begin at all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from hetero.dispatch.subgraph_order import ColoredGraph, Turns
from hetero.graph import Model, Node
from hetero.ops.work_estimate import assumed_shapes, work_of

# A turn is split when at least so much is saved: the part of all, and the seconds. Threads that wait for each other
# cost something too.
PART_SAVED = 0.05
SECONDS_SAVED = 200e-6
# Those of a processor: rough, but what is worth a thread is so on any device.
OPERATIONS_PER_SECOND = 50e9
BYTES_PER_SECOND = 10e9


def estimated_seconds(model: Model, nodes: Iterable[Node]) -> dict[Node, float]:
    """Roughly what each node takes, by its work."""
    shapes = assumed_shapes(model)
    work = {node: work_of(node, shapes) for node in nodes}
    return {n: w.operations / OPERATIONS_PER_SECOND + w.bytes / BYTES_PER_SECOND for n, w in work.items()}


def split_for_overlap(graph: ColoredGraph, turns: Turns, estimate: Callable[[], Sequence[float]]) -> Turns:
    """The turns, in which what need not wait goes first, where that is worth a turn more. Linear.

    ``estimate`` gives the seconds that each node takes; it is called only where something need not wait.
    """
    turn_of = [0] * len(graph.color)
    for index, (_, taken) in enumerate(turns):
        for node in taken:
            turn_of[node] = index
    after = _turns_waited_for(graph, turn_of)
    if all(after[node] == after[taken[0]] for _, taken in turns for node in taken):
        return turns
    seconds = estimate()
    worth = max(SECONDS_SAVED, PART_SAVED * sum(seconds))
    done_before = [0.0]  # the seconds of all turns before each
    for _, taken in turns:
        done_before.append(done_before[-1] + sum(seconds[node] for node in taken))
    early: dict[int, Turns] = {}
    late: Turns = []
    for index, (color, taken) in enumerate(turns):
        at = _best_split(taken, after, index, seconds, done_before, worth)
        late.append((color, [node for node in taken if after[node] > at]))
        if len(late[-1][1]) < len(taken):
            early.setdefault(at, []).append((color, [node for node in taken if after[node] <= at]))
    return early.get(-1, []) + [turn for index, own in enumerate(late) for turn in (own, *early.get(index, []))]


def _turns_waited_for(graph: ColoredGraph, turn_of: Sequence[int]) -> list[int]:
    """The last turn before its own that each node waits for, itself or by what it reads in its turn; -1 for none."""
    after = [-1] * len(turn_of)
    for node, sources in enumerate(graph.sources):
        own = turn_of[node]
        for source in sources:
            waited = after[source] if turn_of[source] == own else turn_of[source]
            if waited > after[node]:
                after[node] = waited
    return after


def _best_split(
    taken: Sequence[int],
    after: Sequence[int],
    index: int,
    seconds: Sequence[float],
    done_before: Sequence[float],
    worth: float,
) -> int:
    """The turn after which the first part of a turn best begins, so that most is done at once; -2 for no split."""
    seconds_after: dict[int, float] = {}
    for node in taken:
        seconds_after[after[node]] = seconds_after.get(after[node], 0.0) + seconds[node]
    best, found, ready = worth, -2, 0.0
    for at in sorted(seconds_after)[:-1]:
        ready += seconds_after[at]
        meanwhile = done_before[index] - done_before[at + 1]
        if min(ready, meanwhile) >= best:
            best, found = min(ready, meanwhile), at
    return found
