"""The order in which a wave runs the blocks of a kernel if its work-items go different ways.

The hardware runs one of the ways first and joins the work-items where the ways meet. In a loop, those that have left it
wait for the others. So a loop's blocks come before what follows the loop, wherever they are in the text: a weak
topological order (Bourdoncle, "Efficient chaotic iteration strategies with widenings", 1993).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def execution_order(successors: Mapping[str, Sequence[str]]) -> tuple[list[str], list[int]]:
    """Return the names of blocks, which are given with those that may follow each, the entry first.

    Also returns for each position the position after the loop that begins there; that of the next block if none does.
    """
    order: list[str] = []
    ends: list[int] = []

    def add(names: Sequence[str]) -> None:
        for component in _components(names, successors):
            order.append(component[0])
            at = len(ends)
            ends.append(0)
            add(component[1:])
            ends[at] = len(order)

    add(list(successors))
    return order, ends


def _components(names: Sequence[str], successors: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """Return the strongly connected components of these blocks, first ones first; each begins with its entry.

    The algorithm is Tarjan's, which visits a component's entry before its other blocks.
    """
    among = set(names)
    index: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    components: list[list[str]] = []

    def visit(name: str) -> None:
        index[name] = lowest[name] = len(index)
        stack.append(name)
        for after in successors[name]:
            if after not in among:
                continue
            if after not in index:
                visit(after)
            if after in stack:
                lowest[name] = min(lowest[name], lowest[after])
        if lowest[name] == index[name]:
            at = stack.index(name)
            components.append(stack[at:])
            del stack[at:]

    for name in names:
        if name not in index:
            visit(name)
    return components[::-1]
