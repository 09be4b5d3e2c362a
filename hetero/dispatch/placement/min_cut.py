"""MIN_CUT: the placement of the least seconds, operations and transfers together.

For two devices that is the minimum cut of a network in which a unit's edges to the two ends are its seconds on either
device. For more, units move to one device after the other while that pays, each move being a minimum cut: the alpha
expansion of Boykov, Veksler and Zabih, "Fast approximate energy minimization via graph cuts", 2001. What it finds is
never worse than each device alone.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence

from hetero.dispatch.placement.max_flow import Network
from hetero.dispatch.placement.problem import Choice, Flow, Problem

# Capacities are whole numbers of these parts of a second.
PARTS = 10**12
# More than all of a model takes, and less than what is impossible.
IMPOSSIBLE = 10**21


def min_cut(problem: Problem, margin: float = 0.0) -> Choice:
    """The devices of the units by the rules above.

    A cut that saves no more than so much, as a part of what the best single device takes, is not made: costs are never
    exact, and each cut has its risks.
    """
    if problem.device_count == 2:
        found = [_expand(problem, [0] * len(problem.seconds), 1)]
    else:
        found = [_expand_all(problem, choice) for choice in problem.simple_choices()]
    simple, best = (min(choices, key=problem.cost) for choices in (problem.simple_choices(), found))
    return best if problem.cost(best) < (1 - margin) * problem.cost(simple) else simple


def _expand_all(problem: Problem, choice: Choice) -> Choice:
    """Let units move to each device in turn until no such move makes it better."""
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
    """The best move in which some units go to a device and the others stay: the sink's side goes."""
    network = Network(len(choice) + 1)
    gone = len(choice)  # stands for all that is on the device already
    network.to_sink(gone, IMPOSSIBLE * 100)
    place_of = [gone if home == device else unit for unit, home in enumerate(choice)]
    for unit, seconds in enumerate(problem.seconds):
        if place_of[unit] == unit:
            network.from_source(unit, _parts(seconds[device]))
            network.to_sink(unit, _parts(seconds[choice[unit]]))
    for flow in problem.flows:
        if flow.source is None:
            _add_input(network, flow, choice, place_of, device)
        else:
            _add_flow(network, flow, choice, place_of, device)
    goes = network.sink_side()
    return [device if goes[place] else home for place, home in zip(place_of, choice)]


def _add_input(network: Network, flow: Flow, choice: Choice, place_of: Sequence[int], device: int) -> None:
    staying = defaultdict(list)
    for reader in flow.readers:
        if choice[reader] != device:
            staying[choice[reader]].append(place_of[reader])
    if all(choice[reader] != device for reader in flow.readers):
        taken = network.add_node()  # on the sink's side when one of the readers goes
        network.from_source(taken, _parts(flow.arrive[device]))
        for reader in flow.readers:
            network.connect(taken, place_of[reader], IMPOSSIBLE)
    for home, readers in staying.items():
        needed = network.add_node()  # on the source's side while one of the readers stays
        network.to_sink(needed, _parts(flow.arrive[home]))
        for reader in readers:
            network.connect(reader, needed, IMPOSSIBLE)


def _add_flow(network: Network, flow: Flow, choice: Choice, place_of: Sequence[int], device: int) -> None:
    home, source = choice[flow.source], place_of[flow.source]
    if flow.is_result and home != device:
        network.from_source(source, _parts(flow.leave[device]))
        network.to_sink(source, _parts(flow.leave[home]))
    groups = defaultdict(list)
    for reader in flow.readers:
        groups[choice[reader]].append(place_of[reader])
    for reader_home, readers in groups.items():
        if reader_home == home:
            _add_together(network, source, readers, flow.between(home, device), flow.between(device, home))
        else:
            ways = ((home, reader_home), (home, device), (device, reader_home))
            for reader in readers:
                _add_apart(network, (source, reader), *(flow.between(*way) / len(readers) for way in ways))


def _add_together(network: Network, source: int, readers: Sequence[int], to_new: float, to_old: float) -> None:
    """Readers that are where the source is: ``to_new`` when only readers go, ``to_old`` when some do not go along."""
    if len(readers) == 1:
        network.connect(source, readers[0], _parts(to_new), _parts(to_old))
        return
    taken, left = network.add_node(), network.add_node()
    network.connect(source, taken, _parts(to_new))
    network.connect(left, source, _parts(to_old))
    for reader in readers:
        network.connect(taken, reader, IMPOSSIBLE)
        network.connect(reader, left, IMPOSSIBLE)


def _add_apart(
    network: Network, pair: tuple[int, int], both_stay: float, reader_goes: float, source_goes: float
) -> None:
    """A reader that is elsewhere; nothing is paid when both go. The three are those of a triangle."""
    source, reader = pair
    network.from_source(source, _parts(source_goes))
    network.to_sink(source, _parts(both_stay))
    network.to_sink(reader, _parts(source_goes))
    network.connect(source, reader, max(0, _parts(reader_goes + source_goes - both_stay)))


def _parts(seconds: float) -> int:
    return IMPOSSIBLE if math.isinf(seconds) else round(seconds * PARTS)
