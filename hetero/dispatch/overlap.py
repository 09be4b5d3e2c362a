"""Splitting turns so that devices work at the same time: a problem of coloured graphs alone.

The fewest turns may make a device wait that need not. Of two branches, each on a device, which meet on the second one,
the second device takes its branch and where they meet in one turn, and so waits for the first one to begin at all.
"""

from __future__ import annotations

from collections.abc import Sequence

from hetero.dispatch.turns import ColouredGraph, Turns

# A turn is split when at least this part of all work is done meanwhile.
WORTH = 1 / 8


def split_for_overlap(graph: ColouredGraph, turns: Turns, work: Sequence[float] | None = None) -> Turns:
    """The turns, in which what need not wait goes first, where that is worth a turn more. Linear.

    ``work`` is what each node costs; all cost the same when it is not given.
    """
    work = [1.0] * len(graph.colour) if work is None else work
    worth = WORTH * sum(work)
    turn_of = [0] * len(graph.colour)
    for index, (_, taken) in enumerate(turns):
        for node in taken:
            turn_of[node] = index
    done_before = [0.0]  # the work of all turns before each
    for _, taken in turns:
        done_before.append(done_before[-1] + sum(work[node] for node in taken))
    after = _turns_waited_for(graph, turn_of)
    early: dict[int, Turns] = {}
    late: Turns = []
    for index, (colour, taken) in enumerate(turns):
        at = _best_split(taken, after, index, work, done_before, worth)
        late.append((colour, [node for node in taken if after[node] > at]))
        if len(late[-1][1]) < len(taken):
            early.setdefault(at, []).append((colour, [node for node in taken if after[node] <= at]))
    return early.get(-1, []) + [turn for index, own in enumerate(late) for turn in (own, *early.get(index, []))]


def _turns_waited_for(graph: ColouredGraph, turn_of: Sequence[int]) -> list[int]:
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
    work: Sequence[float],
    done_before: Sequence[float],
    worth: float,
) -> int:
    """The turn after which the first part of a turn best begins, so that most is done at once; -2 for no split."""
    work_after: dict[int, float] = {}
    for node in taken:
        work_after[after[node]] = work_after.get(after[node], 0.0) + work[node]
    best, found, ready = worth, -2, 0.0
    for at in sorted(work_after)[:-1]:
        ready += work_after[at]
        meanwhile = done_before[index] - done_before[at + 1]
        if min(ready, meanwhile) >= best:
            best, found = min(ready, meanwhile), at
    return found
