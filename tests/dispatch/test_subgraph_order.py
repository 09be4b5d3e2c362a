"""Few turns: as few as trying everything finds, and each node once and after its sources, in turns split or not."""

from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hetero.dispatch.overlap import split_for_overlap
from hetero.dispatch.subgraph_order import ColoredGraph, order_subgraphs


@st.composite
def coloured_graphs(draw, most=10, colors=4) -> ColoredGraph:
    count = draw(st.integers(0, most))
    color = [draw(st.integers(0, colors - 1)) for _ in range(count)]
    sources = [sorted(draw(st.sets(st.integers(0, node - 1), max_size=3))) if node else [] for node in range(count)]
    return ColoredGraph(color, sources)


def fewest_by_trying_all(graph: ColoredGraph) -> int:
    """From every set of nodes, each non-empty set of ready nodes of one colour could go next; here node by node."""
    count = len(graph.color)

    @cache
    def fewest(taken: int, last: int) -> int:
        ready = [n for n in range(count) if not taken >> n & 1 and all(taken >> s & 1 for s in graph.sources[n])]
        return min((fewest(taken | 1 << n, graph.color[n]) + (graph.color[n] != last) for n in ready), default=0)

    return fewest(0, -1)


def check(graph, turns):
    assert sorted(node for _, taken in turns for node in taken) == list(range(len(graph.color)))
    done = set()
    for color, taken in turns:
        assert taken
        for node in taken:
            assert graph.color[node] == color and done.issuperset(graph.sources[node])
            done.add(node)


@settings(max_examples=300, deadline=None)
@given(coloured_graphs())
def test_as_few_as_trying_all_finds(graph):
    turns = order_subgraphs(graph)
    check(graph, turns)
    assert len(turns) == fewest_by_trying_all(graph)


@settings(max_examples=200, deadline=None)
@given(coloured_graphs(60, 2))
def test_two_devices_change_as_often_as_the_longest_path_does(graph):
    turns = order_subgraphs(graph)
    check(graph, turns)
    lowest = max(graph.heights(), default=-1) + 1
    assert lowest <= len(turns) <= max(lowest, len(set(graph.color)), lowest + 1)
    if all(graph.color[n] == graph.color[0] for n, sources in enumerate(graph.sources) if not sources):
        assert len(turns) == lowest


@settings(max_examples=200, deadline=None)
@given(coloured_graphs(60, 4))
def test_split_turns_hold_each_node_once_and_after_its_sources(graph):
    turns = split_for_overlap(graph, order_subgraphs(graph), lambda: [1 + 9 * (node % 7 == 0) for node in range(60)])
    check(graph, turns)


def test_branches_on_two_devices_need_not_wait_for_each_other():
    """0, 1 on one device and 2, 3 on another meet in 4: a turn each for the branches, then one for the meeting."""
    graph = ColoredGraph([0, 0, 1, 1, 1], [[], [0], [], [2], [1, 3]])
    assert order_subgraphs(graph) == [(0, [0, 1]), (1, [2, 3, 4])]
    assert split_for_overlap(graph, order_subgraphs(graph), lambda: [1] * 5) == [(1, [2, 3]), (0, [0, 1]), (1, [4])]


@pytest.mark.parametrize("seconds", [[9, 9, 0, 1, 9], [1e-5, 1e-5, 1e-5, 1e-5, 1e-5]])
def test_what_costs_next_to_nothing_does_not_get_a_turn_of_its_own(seconds):
    graph = ColoredGraph([0, 0, 1, 1, 1], [[], [0], [], [2], [1, 3]])
    assert split_for_overlap(graph, order_subgraphs(graph), lambda: seconds) == [(0, [0, 1]), (1, [2, 3, 4])]
