"""Regions of text in a map of probabilities, in reading order.

The map is the result of a network that was trained to find shrunk regions, so that neighboring lines stay apart.
Source: Liao et al., Real-time Scene Text Detection with Differentiable Binarization, 2020, section 3.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import networkx as nx
import numpy as np

from hetero.run.yaml_runs.config_inputs import TextRegions

# Angles of rectangles that are tried, those near 0 first.
_ANGLES = np.radians(sorted(np.arange(-45, 45, 0.5), key=abs))
# Minimum length of the sides of a region before it grows, in pixels of the map.
_MIN_SIDE = 3
# A region this many times as high as wide is a line of text that is turned by 90 degrees.
_TURNED = 1.5


class _Rectangle(NamedTuple):
    """A rectangle: its angle, and where it begins and ends along and across that angle."""

    angle: float
    low: np.ndarray
    high: np.ndarray

    def corners(self) -> np.ndarray:
        """Return the corners (x, y), clockwise from the left top; from the right top if the text is turned."""
        corners = np.array([self.low, (self.high[0], self.low[1]), self.high, (self.low[0], self.high[1])])
        width, height = self.high - self.low
        return np.roll(corners @ _axes(self.angle), -1 if height >= _TURNED * width else 0, axis=0)


def find_regions(surface: np.ndarray, spec: TextRegions, scale: tuple[float, float]) -> list[np.ndarray]:
    """Return the corners (x, y) of a rectangle around each region, [4, 2], clockwise from the left top of its text.

    ``surface``: probabilities [height, width]. ``scale``: factors from its columns and rows to returned coordinates.
    """
    rectangles = []
    for outline, score in _components(surface, spec.threshold):
        if score >= spec.min_score:
            angle, low, high = _smallest_rectangle(outline * scale)
            sides = high - low
            if sides.min() >= _MIN_SIDE * min(scale):
                margin = spec.expand * sides.prod() / (2 * sides.sum())
                rectangles.append(_Rectangle(angle, low - margin, high + margin))
    return [rectangle.corners() for row in _rows(rectangles) for rectangle in row]


def _components(surface: np.ndarray, threshold: float) -> Iterator[tuple[np.ndarray, float]]:
    """Yield the outline and the mean of each set of connected pixels above the threshold.

    The outline consists of the corners of its pixels at the ends of its rows, as (x, y). Works on runs, that is pixels
    of a row that are next to each other, in the flattened map with an empty column that keeps rows apart.
    """
    stride = surface.shape[1] + 1
    values = np.pad(surface, ((0, 0), (0, 1)), constant_values=-np.inf).ravel()
    edges = np.flatnonzero(np.diff(values > threshold, prepend=False))
    starts, ends = edges[::2], edges[1::2]
    totals = np.append(0, np.cumsum(np.where(values > threshold, values, 0), dtype=np.float64))
    # Runs that a run touches in the next row, also at a corner.
    first = np.searchsorted(ends, starts + stride)
    last = np.searchsorted(starts, ends + stride, side="right")
    touching: nx.Graph[int] = nx.Graph()
    touching.add_nodes_from(range(len(starts)))
    touching.add_edges_from((run, below) for run in range(len(starts)) for below in range(first[run], last[run]))
    for component in nx.connected_components(touching):
        runs = np.array(sorted(component))
        begin, end = starts[runs], ends[runs]
        rows, first = np.unique(begin // stride, return_index=True)
        left, right = begin[first] % stride, end[np.append(first[1:], len(runs)) - 1] % stride
        xs, ys = np.concatenate([left, right] * 2), np.concatenate([rows, rows, rows + 1, rows + 1])
        yield np.stack([xs, ys], axis=-1), float((totals[end] - totals[begin]).sum() / (end - begin).sum())


def _smallest_rectangle(points: np.ndarray) -> _Rectangle:
    """Return the smallest rectangle around points (x, y)."""
    along = points @ np.stack([np.cos(_ANGLES), np.sin(_ANGLES)])
    across = points @ np.stack([-np.sin(_ANGLES), np.cos(_ANGLES)])
    best = int((np.ptp(along, axis=0) * np.ptp(across, axis=0)).argmin())
    both = np.stack([along[:, best], across[:, best]])
    return _Rectangle(float(_ANGLES[best]), both.min(axis=1), both.max(axis=1))


def _rows(rectangles: Sequence[_Rectangle]) -> list[list[_Rectangle]]:
    """Return rectangles in rows from top to bottom, each row from left to right, on a page at their median angle.

    A rectangle is in the row above if its center is lower by at most half its height.
    """
    axes = _axes(float(np.median([rectangle.angle for rectangle in rectangles] or [0])))
    placed = [(*(axes @ rectangle.corners().mean(axis=0)), rectangle) for rectangle in rectangles]
    rows: list[list[tuple[float, float, _Rectangle]]] = []
    for item in sorted(placed, key=lambda item: item[1]):
        _, across, rectangle = item
        if not rows or across - rows[-1][-1][1] > (rectangle.high - rectangle.low)[1] / 2:
            rows.append([])
        rows[-1].append(item)
    return [[rectangle for _, _, rectangle in sorted(row, key=lambda item: item[0])] for row in rows]


def _axes(angle: float) -> np.ndarray:
    """Return the directions along and across an angle as rows (x, y)."""
    return np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
