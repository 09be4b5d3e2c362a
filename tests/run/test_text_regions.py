"""Regions of text in probability maps, compared with drawn rectangles and a flood fill."""

import math

import numpy as np
import pytest
from PIL import Image, ImageDraw

from hetero.run.media.text_regions import _components, find_regions
from hetero.run.yaml_runs.config_inputs import TextRegions

PLAIN = {"from": "detection", "expand": 0}


def rectangle(center, size, degrees):
    """Return the corners of a rectangle, clockwise from the left top."""
    angle = math.radians(degrees)
    turn = np.array([[math.cos(angle), math.sin(angle)], [-math.sin(angle), math.cos(angle)]])
    return np.array(center) + np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)]) * np.array(size) / 2 @ turn


def drawn(*corners, size=(300, 200), value=1.0):
    """Return a map with filled polygons."""
    picture = Image.new("F", size)
    for polygon in corners:
        ImageDraw.Draw(picture).polygon([*map(tuple, polygon)], fill=value)
    return np.asarray(picture)


@pytest.mark.parametrize("degrees", [0, 3, -20, 40])
def test_rectangle_of_a_region(degrees):
    expected = rectangle((150, 100), (120, 20), degrees)
    (corners,) = find_regions(drawn(expected), TextRegions(**PLAIN), (1, 1))
    np.testing.assert_allclose(corners, expected, atol=2)


def test_region_grows_by_its_area_divided_by_its_perimeter():
    surface = np.zeros((100, 200), np.float32)
    surface[40:60, 50:150] = 1
    (corners,) = find_regions(surface, TextRegions(**PLAIN | {"expand": 1.5}), (1, 1))
    margin = 1.5 * (20 * 100) / (2 * (20 + 100))
    np.testing.assert_allclose(corners, rectangle((100, 50), (100 + 2 * margin, 20 + 2 * margin), 0))


def test_coordinates_are_scaled():
    surface = np.zeros((50, 60), np.float32)
    surface[10:20, 20:50] = 1
    (corners,) = find_regions(surface, TextRegions(**PLAIN), (2, 3))
    np.testing.assert_allclose(corners, [(40, 30), (100, 30), (100, 60), (40, 60)])


@pytest.mark.parametrize("tilt", [0, 5])
def test_reading_order(tilt):
    """Rows from top to bottom, each from left to right, also on a tilted page and with uneven base lines."""
    centers = [(60, 40), (200, 43), (60, 100), (150, 97), (240, 101), (100, 160)]
    turn = rectangle((0, 0), (2, 2), tilt)
    axes = np.array([turn[1] - turn[0], turn[3] - turn[0]]) / 2
    centers = [tuple(np.array(center) @ axes) for center in centers]
    surface = drawn(*(rectangle(center, (60, 20), tilt) for center in centers), size=(320, 240))
    found = [corners.mean(axis=0) for corners in find_regions(surface, TextRegions(**PLAIN), (1, 1))]
    np.testing.assert_allclose(found, centers, atol=2)


def test_line_that_is_turned_begins_at_its_right_top():
    surface = np.zeros((200, 100), np.float32)
    surface[50:150, 40:60] = 1
    (corners,) = find_regions(surface, TextRegions(**PLAIN), (1, 1))
    np.testing.assert_allclose(corners, [(60, 50), (60, 150), (40, 150), (40, 50)])


@pytest.mark.parametrize(("height", "value", "count"), [(20, 0.6, 1), (20, 0.4, 0), (20, 0.2, 0), (2, 0.9, 0)])
def test_unlikely_and_small_regions_are_left_out(height, value, count):
    surface = np.zeros((60, 100), np.float32)
    surface[10 : 10 + height, 20:80] = value
    assert len(find_regions(surface, TextRegions(**PLAIN | {"threshold": 0.3, "min_score": 0.5}), (1, 1))) == count


@pytest.mark.parametrize("seed", range(5))
def test_components_are_those_of_a_flood_fill(seed):
    surface = np.random.default_rng(seed).random((12, 15)).astype(np.float32)
    rest, expected = {tuple(pixel) for pixel in np.argwhere(surface > 0.6).tolist()}, []
    while rest:
        found, front = [], [rest.pop()]
        while front:
            found.append(front.pop())
            y, x = found[-1]
            near = {(y + dy, x + dx) for dy in (-1, 0, 1) for dx in (-1, 0, 1)} & rest
            rest -= near
            front.extend(near)
        ys, xs = np.array(found).T
        expected.append((xs.min(), xs.max() + 1, ys.min(), ys.max() + 1, surface[ys, xs].mean()))
    components = [
        (*np.stack([outline.min(axis=0), outline.max(axis=0)], axis=1).ravel(), score)
        for outline, score in _components(surface, 0.6)
    ]
    np.testing.assert_allclose(sorted(components), sorted(expected), rtol=1e-6)


def test_empty_map():
    assert find_regions(np.zeros((20, 30), np.float32), TextRegions(**PLAIN), (1, 1)) == []
