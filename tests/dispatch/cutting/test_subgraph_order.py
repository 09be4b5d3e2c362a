"""The order of subgraphs: close to the minimum number, each node once and after its sources, split or not."""

from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hetero.dispatch.cutting.subgraph_order import ColoredGraph, order_subgraphs, split_for_overlap


@st.composite
def colored_graphs(draw, max_nodes=10, colors=4) -> ColoredGraph:
    count = draw(st.integers(0, max_nodes))
    color = [draw(st.integers(0, colors - 1)) for _ in range(count)]
    sources = [sorted(draw(st.sets(st.integers(0, node - 1), max_size=3))) if node else [] for node in range(count)]
    return ColoredGraph(color, sources)


def minimum_by_brute_force(graph: ColoredGraph) -> int:
    """Return the smallest possible number of subgraphs, over all topological orders."""
    count = len(graph.color)

    @cache
    def minimum(taken: int, last: int) -> int:
        ready = [n for n in range(count) if not taken >> n & 1 and all(taken >> s & 1 for s in graph.sources[n])]
        return min((minimum(taken | 1 << n, graph.color[n]) + (graph.color[n] != last) for n in ready), default=0)

    return minimum(0, -1)


def check(graph, subgraphs):
    assert sorted(node for _, nodes in subgraphs for node in nodes) == list(range(len(graph.color)))
    done = set()
    for color, nodes in subgraphs:
        assert nodes
        for node in nodes:
            assert graph.color[node] == color and done.issuperset(graph.sources[node])
            done.add(node)


@settings(max_examples=300)
@given(colored_graphs())
def test_close_to_the_minimum(graph):
    subgraphs = order_subgraphs(graph)
    check(graph, subgraphs)
    minimum = minimum_by_brute_force(graph)
    assert minimum <= len(subgraphs) <= minimum + 3


@settings(max_examples=200)
@given(colored_graphs(60, 2))
def test_two_colors_change_as_often_as_the_longest_path_does(graph):
    subgraphs = order_subgraphs(graph)
    check(graph, subgraphs)
    lower_bound = max(graph.heights(), default=-1) + 1
    assert lower_bound <= len(subgraphs) <= lower_bound + 1
    if all(graph.color[n] == graph.color[0] for n, sources in enumerate(graph.sources) if not sources):
        assert len(subgraphs) == lower_bound


@settings(max_examples=200)
@given(colored_graphs(60, 4))
def test_split_subgraphs_hold_each_node_once_and_after_its_sources(graph):
    subgraphs = order_subgraphs(graph)
    check(graph, split_for_overlap(graph, subgraphs, lambda: [1 + 9 * (node % 7 == 0) for node in range(60)]))


def test_branches_on_two_devices_need_not_wait_for_each_other():
    """0, 1 on one device and 2, 3 on another meet in 4: a subgraph for each branch, and one for the meeting point."""
    graph = ColoredGraph([0, 0, 1, 1, 1], [[], [0], [], [2], [1, 3]])
    assert order_subgraphs(graph) == [(0, [0, 1]), (1, [2, 3, 4])]
    assert split_for_overlap(graph, order_subgraphs(graph), lambda: [1] * 5) == [(1, [2, 3]), (0, [0, 1]), (1, [4])]


@pytest.mark.parametrize("seconds", [[9, 9, 0, 1, 9], [1e-5, 1e-5, 1e-5, 1e-5, 1e-5]])
def test_cheap_nodes_get_no_subgraph_of_their_own(seconds):
    graph = ColoredGraph([0, 0, 1, 1, 1], [[], [0], [], [2], [1, 3]])
    assert split_for_overlap(graph, order_subgraphs(graph), lambda: seconds) == [(0, [0, 1]), (1, [2, 3, 4])]
