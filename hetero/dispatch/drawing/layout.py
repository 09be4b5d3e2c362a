"""Layered layout of a directed acyclic graph, from top to bottom, by Sugiyama's method.

1. A box is one layer below the lowest box that it depends on. A box without dependencies is right above its readers.
2. A line over several layers goes through a point in each layer between; a very long line through a lane beside all
   boxes.
3. The boxes and points of each layer are ordered by the mean position of their neighbors, in sweeps down and up.
4. In that order each is placed as near as possible to the mean of its neighbors, where boxes have the largest weight.

No boxes overlap, and no line touches a box other than its own two. Linear in boxes and lines, apart from sorting.

K. Sugiyama, S. Tagawa, M. Toda: Methods for visual understanding of hierarchical system structures (1981).
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field

# Gaps in pixels: between boxes of a layer, between a line and its neighbor, between layers; and the outer margin.
BOX_GAP = 18.0
LINE_GAP = 9.0
LAYER_GAP = 30.0
MARGIN = 20.0
# Maximum number of layers that a line crosses between boxes; a longer line takes a lane.
MAX_SPAN = 16
ORDER_SWEEPS = 8
PLACE_SWEEPS = 7  # odd, so that the last sweep goes down and chains are straight
# Weights of boxes, of points of lines, and of boxes without dependencies: a smaller weight yields.
WEIGHT_OF_BOX, WEIGHT_OF_LINE, WEIGHT_OF_ROOT = 1000.0, 10.0, 1.0

Size = tuple[float, float]
Edge = tuple[int, int]


@dataclass
class Layout:
    """The upper left corners of the boxes, and the lines, in pixels.

    A line is a list of points (x, y) from the bottom of its first box to the top of its last one. Vertical segments and
    curves between two layers alternate; the first is vertical, the last is a curve.
    """

    corners: list[tuple[float, float]]
    lines: list[list[tuple[float, float]]]
    width: float
    height: float


@dataclass
class _Graph:
    """Boxes, followed by the points of long lines, each with its layer, width and neighbors."""

    layer_of: list[int]
    widths: list[float]
    above: list[list[int]]
    below: list[list[int]]
    layers: list[list[int]] = field(default_factory=list)


def layout(sizes: Sequence[Size], edges: Sequence[Edge]) -> Layout:
    """Return the layout of boxes of these sizes (width, height); each edge goes from a box to a later one."""
    graph = _make_layers(sizes, edges)
    chains = [_add_points(graph, source, target) for source, target in edges]
    graph.layers = [[] for _ in range(max(graph.layer_of, default=-1) + 1)]
    for index, layer in enumerate(graph.layer_of):
        graph.layers[layer].append(index)
    _order(graph)
    centers = _place(graph, len(sizes))
    left = min((x - width / 2 for x, width in zip(centers, graph.widths)), default=0)
    centers = [x - left + MARGIN for x in centers]
    right = max((x + width / 2 for x, width in zip(centers, graph.widths)), default=0)

    heights = [max((sizes[i][1] for i in layer if i < len(sizes)), default=0) for layer in graph.layers]
    tops = [MARGIN]
    for height in heights:
        tops.append(tops[-1] + height + LAYER_GAP)
    lanes = _lanes(graph.layer_of, edges, chains)
    lane_at = {index: right + BOX_GAP + LINE_GAP * lane for index, lane in lanes.items()}
    lines = []
    for index, ((source, target), chain) in enumerate(zip(edges, chains)):
        first, last = graph.layer_of[source], graph.layer_of[target]
        x = centers[source]
        line = [(x, tops[first] + sizes[source][1]), (x, tops[first] + heights[first])]
        if index in lane_at:
            line += [(lane_at[index], tops[first + 1]), (lane_at[index], tops[last - 1] + heights[last - 1])]
        for point in chain:
            layer = graph.layer_of[point]
            line += [(centers[point], tops[layer]), (centers[point], tops[layer] + heights[layer])]
        lines.append([*line, (centers[target], tops[last])])
    corners = [(centers[i] - width / 2, tops[graph.layer_of[i]]) for i, (width, _) in enumerate(sizes)]
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
    # The neighbors are added with the points of the lines.
    return _Graph(layer_of, [width for width, _ in sizes], [[] for _ in sizes], [[] for _ in sizes])


def _add_points(graph: _Graph, source: int, target: int) -> list[int]:
    """Add the points of a line between its two boxes, and return them; none for a line that takes a lane."""
    first, last = graph.layer_of[source], graph.layer_of[target]
    if last - first > MAX_SPAN:
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
    """Order each layer by the mean position of the neighbors in the layer before it, in sweeps down and up."""
    place = [0.0] * len(graph.layer_of)
    for layer in graph.layers:
        for index, box in enumerate(layer):
            place[box] = index
    for sweep in range(ORDER_SWEEPS):
        down = sweep % 2 == 0
        neighbors = graph.above if down else graph.below
        for layer in graph.layers if down else reversed(graph.layers):
            if len(layer) == 1:
                continue
            wanted = {box: _mean(place, neighbors[box], place[box]) for box in layer}
            layer.sort(key=wanted.__getitem__)
            for index, box in enumerate(layer):
                place[box] = index


def _place(graph: _Graph, count: int) -> list[float]:
    """Return the x coordinate of the center of each box and point; the first ``count`` are boxes."""
    centers = [0.0] * len(graph.layer_of)
    steps = []
    for layer in graph.layers:
        gaps = [0.0]
        for left, right in itertools.pairwise(layer):
            gap = BOX_GAP if graph.widths[left] and graph.widths[right] else LINE_GAP
            gaps.append(gaps[-1] + (graph.widths[left] + graph.widths[right]) / 2 + gap)
        for box, gap in zip(layer, gaps):
            centers[box] = gap - gaps[-1] / 2
        steps.append(gaps)
    # Boxes align with boxes; lines go around them, and boxes without dependencies are put beside them.
    boxes = range(count)
    is_root = [not above for above in graph.above]
    from_above = [
        [one for one in above if one in boxes and not is_root[one]] or above or below
        for above, below in zip(graph.above, graph.below)
    ]
    from_below = [[one for one in below if one in boxes] or below for below in graph.below]
    weights = [
        WEIGHT_OF_ROOT if is_root[one] else WEIGHT_OF_BOX if one in boxes else WEIGHT_OF_LINE
        for one in range(len(centers))
    ]
    for sweep in range(PLACE_SWEEPS):
        down = sweep % 2 == 0
        neighbors = from_above if down else from_below
        for index in range(len(graph.layers)) if down else reversed(range(len(graph.layers))):
            layer, gaps = graph.layers[index], steps[index]
            wanted = [_mean(centers, neighbors[box], centers[box]) - gap for box, gap in zip(layer, gaps)]
            for box, x, gap in zip(layer, _nearest_rising(wanted, [weights[box] for box in layer]), gaps):
                centers[box] = x + gap
    return centers


def _nearest_rising(wanted: Sequence[float], weights: Sequence[float]) -> list[float]:
    """Return the isotonic regression: the rising numbers nearest to ``wanted`` by the weighted sum of squares.

    Uses the pool adjacent violators algorithm.
    """
    blocks: list[tuple[float, float, int]] = []  # weighted sum, weight and count of numbers with the same result
    for value, weight in zip(wanted, weights):
        total, count = value * weight, 1
        while blocks and blocks[-1][0] * weight >= total * blocks[-1][1]:
            before = blocks.pop()
            total, weight, count = total + before[0], weight + before[1], count + before[2]
        blocks.append((total, weight, count))
    return [total / weight for total, weight, count in blocks for _ in range(count)]


def _lanes(layer_of: Sequence[int], edges: Sequence[Edge], chains: Sequence[Sequence[int]]) -> dict[int, int]:
    """Return the lane of each line that takes one. Lines of one box share a lane, and so do lines that do not meet."""
    wanted: dict[int, list[int]] = {}
    for index, ((source, target), chain) in enumerate(zip(edges, chains)):
        if not chain and layer_of[target] - layer_of[source] > 1:
            wanted.setdefault(source, []).append(index)
    lane_of: dict[int, int] = {}
    free: list[int] = []
    taken: list[tuple[int, int]] = []  # last layer and number of each lane in use
    for source in sorted(wanted, key=layer_of.__getitem__):
        while taken and taken[0][0] <= layer_of[source]:
            heapq.heappush(free, heapq.heappop(taken)[1])
        lane = heapq.heappop(free) if free else len(taken)
        heapq.heappush(taken, (max(layer_of[edges[index][1]] for index in wanted[source]), lane))
        lane_of.update(dict.fromkeys(wanted[source], lane))
    return lane_of


def _mean(values: Sequence[float], indices: Sequence[int], otherwise: float) -> float:
    return sum(values[index] for index in indices) / len(indices) if indices else otherwise
