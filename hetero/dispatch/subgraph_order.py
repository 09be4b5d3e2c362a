"""In which order devices take turns so that there are few turns: a problem of coloured graphs alone.

A turn is of one colour; it takes nodes of that colour whose sources were taken before it, or in it. So turns never
wait for each other in a circle, and as a turn loses nothing by taking all that it can, their colours tell them whole.

The lowest number is one more than the most changes of colour on any path. With two colours it is reached, or
missed by one, when the colour begins that has the longest way before it. With more colours the fewest turns are as hard
to find as the shortest common supersequence: the same rule, forwards and backwards, finds few, and a search that
keeps the best states after each turn finds fewer where the graph is small.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

import numpy as np

# What the search may look at: nodes, in all states together. That takes about a twentieth of a second.
EFFORT = 500_000
WIDEST = 32

# Tuples of numbers cost the garbage collector nothing, where 100,000 lists cost it seconds.
Nodes = tuple[int, ...]
Turns = list[tuple[int, list[int]]]


class ColoredGraph:
    """Nodes 0 … n-1, sources before readers, each of a colour 0 … colours-1, and the nodes that each reads."""

    def __init__(self, color: Sequence[int], sources: Sequence[Nodes]) -> None:
        self.color = color
        self.sources = sources
        self.colors = max(color, default=-1) + 1
        self.readers = _turned_round(sources)

    def heights(self) -> list[int]:
        """The most changes of colour on a path that begins at each node."""
        color, heights = self.color, [0] * len(self.color)
        for node in range(len(color) - 1, -1, -1):
            own, height = color[node], heights[node]
            for source in self.sources[node]:
                reached = height + (color[source] != own)
                if reached > heights[source]:
                    heights[source] = reached
        return heights

    def reversed(self) -> ColoredGraph:
        last = len(self.color) - 1
        return ColoredGraph(self.color[::-1], [tuple([last - n for n in nodes]) for nodes in self.readers[::-1]])


def order_subgraphs(graph: ColoredGraph) -> Turns:
    """Turns that take each node once, as early as can be: the fewest that were found."""
    small, part_of = _contract(graph)
    heights = small.heights()
    lowest = max(heights, default=-1) + 1
    turns = take_switches(small, highest_first(small, heights))
    if small.colors > 2 and len(turns) > lowest:
        backwards = small.reversed()
        others = [color for color, _ in take_switches(backwards, highest_first(backwards, backwards.heights()))][::-1]
        turns = min(turns, take_switches(small, in_order(others)), key=len)
        if len(turns) > lowest and (fewer := _search(small, heights, len(turns))):
            turns = take_switches(small, in_order(fewer))
    turn_of_part = {part: index for index, (_, taken) in enumerate(turns) for part in taken}
    whole: Turns = [(color, []) for color, _ in turns]
    for node, part in enumerate(part_of):
        whole[turn_of_part[part]][1].append(node)
    return whole


def take_switches(graph: ColoredGraph, choose: Callable[[list[list[int]]], int]) -> Turns:
    """The turns when ``choose`` names the colour of the next, given the ready nodes of each. Linear; none is empty."""
    color, readers = graph.color, graph.readers
    waiting_for = [len(sources) for sources in graph.sources]
    ready: list[list[int]] = [[] for _ in range(graph.colors)]
    for node, count in enumerate(waiting_for):
        if not count:
            ready[color[node]].append(node)
    turns: Turns = []
    left = len(color)
    while left:
        own = choose(ready)
        taken, ready[own] = ready[own], []
        for node in taken:  # it grows meanwhile
            for reader in readers[node]:
                waiting_for[reader] -= 1
                if not waiting_for[reader]:
                    (taken if color[reader] == own else ready[color[reader]]).append(reader)
        if taken:
            left -= len(taken)
            turns.append((own, taken))
    return turns


def highest_first(graph: ColoredGraph, heights: Sequence[int]) -> Callable[[list[list[int]]], int]:
    """The rule that the colour goes next which has the longest way before it; of several, the one with most nodes."""
    seen = [0] * graph.colors  # how many of the nodes that are ready were looked at: each is once
    highest = [-1] * graph.colors

    def choose(ready: list[list[int]]) -> int:
        for color, nodes in enumerate(ready):
            if len(nodes) > seen[color]:
                highest[color] = max(highest[color], max(heights[node] for node in nodes[seen[color] :]))
                seen[color] = len(nodes)
        found = max(range(graph.colors), key=lambda color: (highest[color], seen[color]))
        seen[found], highest[found] = 0, -1
        return found

    return choose


def in_order(colors: Sequence[int]) -> Callable[[list[list[int]]], int]:
    """The rule that colours go in an order found before."""
    following = iter(colors)
    return lambda ready: next(following)


def _turned_round(sources: Sequence[Nodes]) -> list[Nodes]:
    """For each node those that read it."""
    counts = [len(nodes) for nodes in sources]
    flat = np.fromiter(itertools.chain.from_iterable(sources), np.int64, sum(counts))
    readers = np.repeat(np.arange(len(sources)), counts)[np.argsort(flat, kind="stable")].tolist()
    ends = np.cumsum(np.bincount(flat, minlength=len(sources))).tolist()
    return [tuple(readers[begin:end]) for begin, end in zip([0, *ends], ends)]


def _contract(graph: ColoredGraph) -> tuple[ColoredGraph, list[int]]:
    """A smaller graph with the same turns, and which of its nodes each node is part of.

    A node of the colour of its only source is ready with that, and so can always be taken in the same turn.
    """
    part_of: list[int] = []
    color: list[int] = []
    sources_of: list[Nodes] = []
    for own, sources in zip(graph.color, graph.sources):
        found = {part_of[source] for source in sources}
        if len(found) == 1 and color[part := next(iter(found))] == own:
            part_of.append(part)
        else:
            part_of.append(len(color))
            color.append(own)
            sources_of.append(tuple(found))
    return ColoredGraph(color, sources_of), part_of


def _search(graph: ColoredGraph, heights: Sequence[int], most: int) -> list[int]:
    """The colours of fewer turns than ``most``; none when not found. After each turn the best states are kept.

    A state is the set of nodes that are left, as the bits of a number. Those are best in which the longest way
    before a node is shortest, has fewest nodes at its beginning, and in which fewest nodes are left.
    """
    count = len(graph.color)
    width = min(WIDEST, EFFORT // (count * most))
    if width < 2:
        return []
    by_colour = [[node for node in range(count) if graph.color[node] == own] for own in range(graph.colors)]
    sources = [sum(1 << source for source in nodes) for nodes in graph.sources]
    at_height = [0] * (max(heights) + 1)
    for node, height in enumerate(heights):
        at_height[height] |= 1 << node

    def rank(left: int) -> tuple[int, int, int]:
        highest = next(height for height in range(len(at_height) - 1, -1, -1) if left & at_height[height])
        return highest, (left & at_height[highest]).bit_count(), left.bit_count()

    states: dict[int, tuple[int, ...]] = {(1 << count) - 1: ()}
    for _ in range(most - 1):
        following: dict[int, tuple[int, ...]] = {}
        for state, colors in states.items():
            for own, nodes in enumerate(by_colour):
                left = state
                for node in nodes:
                    if left >> node & 1 and not sources[node] & left:
                        left ^= 1 << node
                if left != state:
                    following.setdefault(left, (*colors, own))
        if 0 in following:
            return following[0]
        states = {left: following[left] for left in sorted(following, key=rank)[:width]}
    return []
