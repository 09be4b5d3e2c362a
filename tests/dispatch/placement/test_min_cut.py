"""MIN_CUT compared with the best placement found by brute force."""

import itertools
import math

import networkx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hetero.dispatch.placement.max_flow import Network
from hetero.dispatch.placement.min_cut import min_cut
from hetero.dispatch.placement.problem import Flow, Problem

SECONDS = st.integers(0, 9).map(float)


@st.composite
def problems(draw, device_count):
    """Return a problem of up to seven units with random sources; not every device supports every unit."""
    unit_count = draw(st.integers(1, 7))
    times = st.lists(SECONDS | st.just(math.inf), min_size=device_count, max_size=device_count)
    rows = [draw(times.filter(lambda row: min(row) < math.inf)) for _ in range(unit_count)]
    by_device = st.tuples(*[SECONDS] * device_count)
    flows = []
    for source in (None, *range(unit_count)):
        later = range(0 if source is None else source + 1, unit_count)
        readers = draw(st.lists(st.sampled_from(later), unique=True).map(sorted)) if later else []
        is_result = source is not None and draw(st.booleans())
        flows.append(Flow(source, tuple(readers), draw(by_device), draw(by_device), is_result))
    return Problem(rows, flows, device_count)


def every_choice(problem):
    return itertools.product(range(problem.device_count), repeat=len(problem.seconds))


@given(problems(2))
@settings(max_examples=150)
def test_for_two_devices_the_choice_is_optimal(problem):
    assert problem.cost(min_cut(problem)) == min(map(problem.cost, every_choice(problem)))


@given(problems(3))
@settings(max_examples=150)
def test_for_three_devices_the_choice_beats_simple_ones_and_is_near_optimal(problem):
    found = problem.cost(min_cut(problem))
    assert found <= min(map(problem.cost, problem.simple_choices()))
    assert found <= 2 * min(map(problem.cost, every_choice(problem)))


def chain(*rows, leave=1.0, arrive=1.0):
    """Return a chain of units from an input to a result; all transfers cost the same."""
    devices = len(rows[0])
    costs = ((leave,) * devices, (arrive,) * devices)
    inner = [Flow(unit, (unit + 1,), *costs) for unit in range(len(rows) - 1)]
    return Problem(rows, [Flow(None, (0,), *costs), *inner, Flow(len(rows) - 1, (), *costs, True)], devices)


@pytest.mark.parametrize(
    ("problem", "choice"),
    [
        (chain((1.0, 9.0), (9.0, 1.0), (1.0, 9.0)), [0, 1, 0]),
        (chain((1.0, 9.0), (4.0, 1.0), (1.0, 9.0)), [0, 0, 0]),  # two boundaries cost more than they save
        (chain((1.0, 9.0), (4.0, 1.0), (1.0, 9.0), leave=0.1, arrive=0.1), [0, 1, 0]),
        (chain((1.0, math.inf), (1.0, 2.0), (math.inf, 1.0)), [0, 0, 1]),
        (chain((9.0, 1.0, 9.0), (9.0, 9.0, 1.0), (1.0, 9.0, 9.0)), [1, 2, 0]),
        (chain((3.0, 9.0, 9.0), (9.0, 3.0, 3.5), (9.0, 9.0, 3.0)), [0, 2, 2]),
        (chain((0.0, 0.0)), [0]),
    ],
)
def test_chains(problem, choice):
    assert min_cut(problem) == choice


def test_a_value_with_several_readers_is_copied_once():
    """Five readers save 1 each on the second device, and the transfer of their common input costs 4."""
    readers = (1, 2, 3, 4, 5)
    rows = [(0.0, math.inf), *[(1.0, 0.0)] * 5]
    flow = Flow(0, readers, (2.0, 0.0), (0.0, 2.0))
    assert min_cut(Problem(rows, [flow], 2)) == [0, 1, 1, 1, 1, 1]
    dearer = Flow(0, readers, (2.0, 0.0), (0.0, 4.0))
    assert min_cut(Problem(rows, [dearer], 2)) == [0] * 6


CAPACITIES = st.integers(0, 9)


@given(
    st.integers(1, 8).flatmap(
        lambda count: st.tuples(
            st.lists(st.tuples(CAPACITIES, CAPACITIES), min_size=count, max_size=count),
            st.lists(
                st.tuples(st.integers(0, count - 1), st.integers(0, count - 1), CAPACITIES, CAPACITIES), max_size=20
            ),
        )
    )
)
@settings(max_examples=150)
def test_the_cut_is_as_small_as_networkx_finds(case):
    ends, edges = case
    network, graph = Network(len(ends)), networkx.DiGraph()
    for node, (from_source, to_sink) in enumerate(ends):
        network.from_source(node, from_source)
        network.to_sink(node, to_sink)
        graph.add_edge("source", node, capacity=from_source)
        graph.add_edge(node, "sink", capacity=to_sink)
    for start, end, forth, back in edges:
        network.connect(start, end, forth, back)
        for first, second, capacity in ((start, end, forth), (end, start, back)):
            before = graph.edges[first, second]["capacity"] if graph.has_edge(first, second) else 0
            graph.add_edge(first, second, capacity=before + capacity)
    on_sink_side = network.sink_side()
    value = sum(pair[0] if side else pair[1] for pair, side in zip(ends, on_sink_side))
    for start, end, forth, back in edges:
        if on_sink_side[start] != on_sink_side[end]:
            value += forth if on_sink_side[end] else back
    assert value == networkx.minimum_cut_value(graph, "source", "sink")


def test_a_chain_of_many_units():
    """Blocks of a thousand units, alternately faster on one device and on the other, with a known optimum."""
    rows = [(1.0, 2.0) if unit // 1000 % 2 == 0 else (2.0, 1.0) for unit in range(20_000)]
    problem = chain(*rows, leave=5.0, arrive=5.0)
    choice = min_cut(problem)
    assert choice == [unit // 1000 % 2 for unit in range(20_000)]
    assert problem.cost(choice) == 20_000 + 19 * 10 + 5 + 5
