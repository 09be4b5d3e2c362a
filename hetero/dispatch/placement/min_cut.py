"""MIN_CUT: the placement with the least total time of operations and transfers.

For two devices this is the minimum cut of a network in which the edges of a unit to source and sink are its seconds on
the two devices. For more devices, units move to one device after the other as long as that saves time; each move is a
minimum cut: the alpha expansion of Boykov, Veksler and Zabih, "Fast approximate energy minimization via graph cuts",
2001. The result is never worse than each device alone.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence

from hetero.dispatch.placement.max_flow import Network
from hetero.dispatch.placement.problem import Choice, Flow, Problem

# Capacities are integers: picoseconds.
PARTS = 10**12
# More than the time of any model.
IMPOSSIBLE = 10**21


def min_cut(problem: Problem, margin: float = 0.0) -> Choice:
    """Return the device of each unit.

    ``margin`` is the part of the best single device's time that cuts must save, else that device is chosen: costs are
    never exact, and every cut has its risks.
    """
    if problem.device_count == 2:
        choices = [_expand(problem, [0] * len(problem.seconds), 1)]
    else:
        choices = [_expand_all(problem, choice) for choice in problem.simple_choices()]
    simple, best = (min(some, key=problem.cost) for some in (problem.simple_choices(), choices))
    return best if problem.cost(best) < (1 - margin) * problem.cost(simple) else simple


def _expand_all(problem: Problem, choice: Choice) -> Choice:
    """Let units move to each device in turn until no such move saves time."""
    cost = problem.cost(choice)
    waiting = list(range(problem.device_count))
    while waiting:
        device = waiting.pop(0)
        moved = _expand(problem, choice, device)
        moved_cost = problem.cost(moved)
        if moved_cost < cost:
            choice, cost = moved, moved_cost
            waiting = [other for other in range(problem.device_count) if other != device]
    return choice


def _expand(problem: Problem, choice: Choice, device: int) -> Choice:
    """Return the best choice in which some units move to a device and the others stay.

    In the network the sink's side moves. One extra node stands for all units that are on the device already.
    """
    network = Network(len(choice) + 1)
    moved = len(choice)
    network.to_sink(moved, IMPOSSIBLE * 100)
    vertex_of = [moved if home == device else unit for unit, home in enumerate(choice)]
    for unit, seconds in enumerate(problem.seconds):
        if vertex_of[unit] == unit:
            network.from_source(unit, _capacity(seconds[device]))
            network.to_sink(unit, _capacity(seconds[choice[unit]]))
    for flow in problem.flows:
        if flow.source is None:
            _add_input(network, flow, choice, vertex_of, device)
        else:
            _add_flow(network, flow, flow.source, choice, vertex_of, device)
    goes = network.sink_side()
    return [device if goes[vertex] else home for vertex, home in zip(vertex_of, choice)]


def _add_input(network: Network, flow: Flow, choice: Choice, vertex_of: Sequence[int], device: int) -> None:
    """Add the transfers of an input of the model, to the new device and to the devices where readers stay."""
    staying = defaultdict(list)
    for reader in flow.readers:
        if choice[reader] != device:
            staying[choice[reader]].append(vertex_of[reader])
    if all(choice[reader] != device for reader in flow.readers):
        arrives = network.add_node()  # on the sink's side if one of the readers moves
        network.from_source(arrives, _capacity(flow.arrive[device]))
        for reader in flow.readers:
            network.connect(arrives, vertex_of[reader], IMPOSSIBLE)
    for home, readers in staying.items():
        needed = network.add_node()  # on the source's side while one of the readers stays
        network.to_sink(needed, _capacity(flow.arrive[home]))
        for reader in readers:
            network.connect(reader, needed, IMPOSSIBLE)


def _add_flow(network: Network, flow: Flow, unit: int, choice: Choice, vertex_of: Sequence[int], device: int) -> None:
    """Add the transfers of a value from its unit to its readers, and to the output of the model."""
    home, source = choice[unit], vertex_of[unit]
    if flow.is_result and home != device:
        network.from_source(source, _capacity(flow.leave[device]))
        network.to_sink(source, _capacity(flow.leave[home]))
    by_home = defaultdict(list)
    for reader in flow.readers:
        by_home[choice[reader]].append(vertex_of[reader])
    for reader_home, readers in by_home.items():
        if reader_home == home:
            _add_same_home(network, source, readers, flow.between(home, device), flow.between(device, home))
        else:
            ways = ((home, reader_home), (home, device), (device, reader_home))
            for reader in readers:
                _add_other_home(network, (source, reader), *(flow.between(*way) / len(readers) for way in ways))


def _add_same_home(network: Network, source: int, readers: Sequence[int], to_new: float, to_old: float) -> None:
    """Add readers on the source's device: ``to_new`` is paid if only readers move, ``to_old`` if some stay behind."""
    if len(readers) == 1:
        network.connect(source, readers[0], _capacity(to_new), _capacity(to_old))
        return
    any_moves, any_stays = network.add_node(), network.add_node()
    network.connect(source, any_moves, _capacity(to_new))
    network.connect(any_stays, source, _capacity(to_old))
    for reader in readers:
        network.connect(any_moves, reader, IMPOSSIBLE)
        network.connect(reader, any_stays, IMPOSSIBLE)


def _add_other_home(
    network: Network, pair: tuple[int, int], both_stay: float, reader_moves: float, source_moves: float
) -> None:
    """Add a reader on another device than the source. Nothing is paid if both move.

    The three costs satisfy the triangle inequality, so the last capacity is negative only by rounding.
    """
    source, reader = pair
    network.from_source(source, _capacity(source_moves))
    network.to_sink(source, _capacity(both_stay))
    network.to_sink(reader, _capacity(source_moves))
    network.connect(source, reader, max(0, _capacity(reader_moves + source_moves - both_stay)))


def _capacity(seconds: float) -> int:
    return IMPOSSIBLE if math.isinf(seconds) else round(seconds * PARTS)
