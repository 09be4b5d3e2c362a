"""Where boxes and lines of a directed acyclic graph are drawn: layers from top to bottom, by Sugiyama's method.

1. A box is one layer below the lowest that it depends on; one that depends on nothing is right above what reads it.
2. A line over several layers goes through points in those between; a very long one through a lane beside all boxes.
3. In each layer boxes and points are ordered by the mean place of their neighbours, up and down in turns.
4. In that order each is put as near as can be to the mean of its neighbours' places, where boxes count most.

No boxes overlap, and no line touches a box but at its own two. Linear in boxes and lines, apart from sorting.

K. Sugiyama, S. Tagawa, M. Toda: Methods for visual understanding of hierarchical system structures (1981).
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field

# In pixels: between boxes of a layer, between a line and what is beside it, between two layers, around everything.
BOX_GAP = 18.0
LINE_GAP = 9.0
LAYER_GAP = 30.0
MARGIN = 20.0
# Layers that a line goes through between boxes; a longer one takes a lane.
LONGEST = 16
ORDER_SWEEPS = 8
PLACE_SWEEPS = 7  # the last is downwards, so that chains are straight
# Who stays where it should be, and who makes way: boxes, lines between them, boxes that nothing comes before.
WEIGHT_OF_BOX, WEIGHT_OF_LINE, WEIGHT_OF_BEGINNING = 1000.0, 10.0, 1.0

Size = tuple[float, float]
Edge = tuple[int, int]


@dataclass
class Layout:
    """The left upper corners of boxes, and the lines.

    A line is its points (x, y) from below its first box to above its last one: from the first point to the second goes
    a vertical line, from that to the next a curve between two layers, and so on in turns, a curve at the end.
    """

    corners: list[tuple[float, float]]
    lines: list[list[tuple[float, float]]]
    width: float
    height: float


@dataclass
class _Graph:
    """Boxes, and behind them the points of long lines, each in a layer."""

    layer_of: list[int]
    widths: list[float]
    above: list[list[int]]
    below: list[list[int]]
    layers: list[list[int]] = field(default_factory=list)


def layout(sizes: Sequence[Size], edges: Sequence[Edge]) -> Layout:
    """The layout of boxes of these sizes; each edge goes from a box to a later one."""
    graph = _make_layers(sizes, edges)
    chains = [_add_points(graph, source, target) for source, target in edges]
    graph.layers = [[] for _ in range(max(graph.layer_of, default=-1) + 1)]
    for index, layer in enumerate(graph.layer_of):
        graph.layers[layer].append(index)
    _order(graph)
    centres = _place(graph, len(sizes))
    left = min((x - width / 2 for x, width in zip(centres, graph.widths)), default=0)
    centres = [x - left + MARGIN for x in centres]
    right = max((x + width / 2 for x, width in zip(centres, graph.widths)), default=0)

    heights = [max((sizes[i][1] for i in layer if i < len(sizes)), default=0) for layer in graph.layers]
    tops = [MARGIN]
    for height in heights:
        tops.append(tops[-1] + height + LAYER_GAP)
    lanes = _lanes(graph.layer_of, edges, chains)
    lane_at = {index: right + BOX_GAP + LINE_GAP * lane for index, lane in lanes.items()}
    lines = []
    for index, ((source, target), chain) in enumerate(zip(edges, chains)):
        first, last = graph.layer_of[source], graph.layer_of[target]
        x = centres[source]
        line = [(x, tops[first] + sizes[source][1]), (x, tops[first] + heights[first])]
        if index in lane_at:
            line += [(lane_at[index], tops[first + 1]), (lane_at[index], tops[last - 1] + heights[last - 1])]
        for point in chain:
            layer = graph.layer_of[point]
            line += [(centres[point], tops[layer]), (centres[point], tops[layer] + heights[layer])]
        lines.append([*line, (centres[target], tops[last])])
    corners = [(centres[i] - width / 2, tops[graph.layer_of[i]]) for i, (width, _) in enumerate(sizes)]
    return Layout(corners, lines, max([right, *lane_at.values()]) + MARGIN, tops[-1] - LAYER_GAP + MARGIN)


def _make_layers(sizes: Sequence[Size], edges: Sequence[Edge]) -> _Graph:
    below: list[list[int]] = [[] for _ in sizes]
    depends = [False] * len(sizes)
    for source, target in edges:
        below[source].append(target)
        depends[target] = True
    layer_of = [0] * len(sizes)
    for source, targets in enumerate(below):
        for target in targets:
            layer_of[target] = max(layer_of[target], layer_of[source] + 1)
    for index, targets in enumerate(below):
        if not depends[index] and targets:
            layer_of[index] = min(layer_of[target] for target in targets) - 1
    # The lines are joined to boxes and points when these are made.
    return _Graph(layer_of, [width for width, _ in sizes], [[] for _ in sizes], [[] for _ in sizes])


def _add_points(graph: _Graph, source: int, target: int) -> list[int]:
    """The points of a line between its two boxes, none for one that takes a lane."""
    first, last = graph.layer_of[source], graph.layer_of[target]
    if last - first > LONGEST:
        return []
    chain = []
    before = source
    for layer in range(first + 1, last):
        point = len(graph.layer_of)
        graph.layer_of.append(layer)
        graph.widths.append(0)
        graph.above.append([before])
        graph.below.append([])
        graph.below[before].append(point)
        chain.append(point)
        before = point
    graph.below[before].append(target)
    graph.above[target].append(before)
    return chain


def _order(graph: _Graph) -> None:
    """Order each layer by the mean place of neighbours in the layer before it, downwards and upwards in turns."""
    place = [0.0] * len(graph.layer_of)
    for layer in graph.layers:
        for index, box in enumerate(layer):
            place[box] = index
    for sweep in range(ORDER_SWEEPS):
        down = sweep % 2 == 0
        neighbours = graph.above if down else graph.below
        for layer in graph.layers if down else reversed(graph.layers):
            if len(layer) == 1:
                continue
            wanted = {box: _mean(place, neighbours[box], place[box]) for box in layer}
            layer.sort(key=wanted.__getitem__)
            for index, box in enumerate(layer):
                place[box] = index


def _place(graph: _Graph, count: int) -> list[float]:
    """The middle of each box and point, from left to right; the first ``count`` are boxes."""
    centres = [0.0] * len(graph.layer_of)
    steps = []
    for layer in graph.layers:
        gaps = [0.0]
        for left, right in itertools.pairwise(layer):
            gap = BOX_GAP if graph.widths[left] and graph.widths[right] else LINE_GAP
            gaps.append(gaps[-1] + (graph.widths[left] + graph.widths[right]) / 2 + gap)
        for box, gap in zip(layer, gaps):
            centres[box] = gap - gaps[-1] / 2
        steps.append(gaps)
    # Boxes follow boxes: lines go around them, and what nothing comes before is put beside them.
    boxes = range(count)
    begins = [not above for above in graph.above]
    from_above = [
        [one for one in above if one in boxes and not begins[one]] or above or below
        for above, below in zip(graph.above, graph.below)
    ]
    from_below = [[one for one in below if one in boxes] or below for below in graph.below]
    weights = [
        WEIGHT_OF_BEGINNING if begins[one] else WEIGHT_OF_BOX if one in boxes else WEIGHT_OF_LINE
        for one in range(len(centres))
    ]
    for sweep in range(PLACE_SWEEPS):
        down = sweep % 2 == 0
        neighbours = from_above if down else from_below
        for index in range(len(graph.layers)) if down else reversed(range(len(graph.layers))):
            layer, gaps = graph.layers[index], steps[index]
            wanted = [_mean(centres, neighbours[box], centres[box]) - gap for box, gap in zip(layer, gaps)]
            for box, x, gap in zip(layer, _nearest_rising(wanted, [weights[box] for box in layer]), gaps):
                centres[box] = x + gap
    return centres


def _nearest_rising(wanted: Sequence[float], weights: Sequence[float]) -> list[float]:
    """The numbers that never fall and are nearest to these by the weighted sum of squares (pool adjacent violators)."""
    blocks: list[tuple[float, float, int]] = []  # of those that have the same value the sum, the weight and the number
    for value, weight in zip(wanted, weights):
        total, count = value * weight, 1
        while blocks and blocks[-1][0] * weight >= total * blocks[-1][1]:
            before = blocks.pop()
            total, weight, count = total + before[0], weight + before[1], count + before[2]
        blocks.append((total, weight, count))
    return [total / weight for total, weight, count in blocks for _ in range(count)]


def _lanes(layer_of: Sequence[int], edges: Sequence[Edge], chains: Sequence[Sequence[int]]) -> dict[int, int]:
    """For each line that takes one its lane; lines of one box share theirs, and so do those that do not meet."""
    wanted: dict[int, list[int]] = {}
    for index, ((source, target), chain) in enumerate(zip(edges, chains)):
        if not chain and layer_of[target] - layer_of[source] > 1:
            wanted.setdefault(source, []).append(index)
    found: dict[int, int] = {}
    free: list[int] = []
    taken: list[tuple[int, int]] = []  # the layer where it ends, and the lane
    for source in sorted(wanted, key=layer_of.__getitem__):
        while taken and taken[0][0] <= layer_of[source]:
            heapq.heappush(free, heapq.heappop(taken)[1])
        lane = heapq.heappop(free) if free else len(taken)
        heapq.heappush(taken, (max(layer_of[edges[index][1]] for index in wanted[source]), lane))
        found.update(dict.fromkeys(wanted[source], lane))
    return found


def _mean(values: Sequence[float], indices: Sequence[int], otherwise: float) -> float:
    return sum(values[index] for index in indices) / len(indices) if indices else otherwise
