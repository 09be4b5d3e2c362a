"""The layout of boxes and lines: no overlap, and lines touch only their own two boxes."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hetero.dispatch.drawing.layout import MAX_SPAN, layout


@st.composite
def graphs(draw):
    sizes = draw(st.lists(st.tuples(st.integers(20, 200), st.integers(10, 80)), min_size=1, max_size=40))
    ends = st.tuples(st.integers(0, len(sizes) - 1), st.integers(0, len(sizes) - 1))
    edges = draw(st.lists(ends.filter(lambda edge: edge[0] < edge[1]), max_size=60, unique=True)) if sizes[1:] else []
    if draw(st.booleans()):  # a long chain, so that there are lanes
        edges = list(dict.fromkeys([*edges, *itertools.pairwise(range(len(sizes)))]))
    return sizes, edges


def rectangles(sizes, found):
    return [(x, y, x + width, y + height) for (x, y), (width, height) in zip(found.corners, sizes)]


def is_inside(outer, inner):
    return outer[0] <= inner[0] and outer[1] <= inner[1] and inner[2] <= outer[2] and inner[3] <= outer[3]


def overlap(one, other):
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


@settings(max_examples=200, deadline=None)
@given(graphs())
def test_boxes_lie_in_the_picture_and_do_not_overlap(graph):
    sizes, edges = graph
    found = layout(sizes, edges)
    boxes = rectangles(sizes, found)
    assert all(is_inside((0, 0, found.width, found.height), box) for box in boxes)
    assert not any(overlap(one, other) for one, other in itertools.combinations(boxes, 2))


@settings(max_examples=200, deadline=None)
@given(graphs())
def test_lines_go_down_from_box_to_box_and_touch_no_other(graph):
    sizes, edges = graph
    found = layout(sizes, edges)
    boxes = rectangles(sizes, found)
    for (source, target), line in zip(edges, found.lines, strict=True):
        (x0, y0), (x1, y1) = line[0], line[-1]
        assert boxes[source][0] < x0 < boxes[source][2] and y0 == boxes[source][3]
        assert boxes[target][0] < x1 < boxes[target][2] and y1 == boxes[target][1]
        assert len(line) % 2 == 1
        for index, ((ax, ay), (bx, by)) in enumerate(itertools.pairwise(line)):
            assert ay <= by
            if index % 2 == 0:
                assert ax == bx
            assert 0 <= ax <= found.width
            # A vertical line is narrow; a curve may go through all of the rectangle between its ends.
            within = (min(ax, bx) - 1, ay + 1e-6, max(ax, bx) + 1, by - 1e-6)
            assert not any(overlap(within, box) for box in boxes)


def chain(length):
    return [(100, 30)] * length, list(itertools.pairwise(range(length)))


def test_a_chain_is_a_column():
    found = layout(*chain(50))
    assert len({x for x, _ in found.corners}) == 1
    assert found.width < 200


def test_branches_lie_side_by_side_below_their_source():
    found = layout([(100, 30)] * 4, [(0, 1), (0, 2), (1, 3), (2, 3)])
    (top, left, right, bottom) = found.corners
    assert left[1] == right[1] and top[1] < left[1] < bottom[1]
    assert top[0] == bottom[0] == pytest.approx((left[0] + right[0]) / 2)


def test_crossings_are_undone():
    """Two chains beside each other, with alternating boxes."""
    edges = [(0, 3), (1, 2), (2, 4), (3, 5)]
    found = layout([(100, 30)] * 6, edges)
    x = [corner[0] for corner in found.corners]
    assert all((x[a] < x[c]) == (x[b] < x[d]) for (a, b), (c, d) in [(edges[0], edges[1]), (edges[2], edges[3])])


def test_lines_over_very_many_layers_share_lanes_beside_all_boxes():
    sizes, edges = chain(4 * MAX_SPAN)
    far = [(0, len(sizes) - 1), (0, 2 * MAX_SPAN), (MAX_SPAN, len(sizes) - 2)]
    found = layout(sizes, edges + far)
    right = max(x + width for (x, _), (width, _) in zip(found.corners, sizes))
    lanes = [line[2][0] for line in found.lines[-3:]]
    assert lanes[0] == lanes[1] and lanes[2] > lanes[0] > right
    found = layout(sizes, [*edges, (0, MAX_SPAN + 1), (2 * MAX_SPAN, 4 * MAX_SPAN - 1)])
    assert found.lines[-1][2][0] == found.lines[-2][2][0] > right


def test_a_box_without_dependencies_is_right_above_its_reader():
    found = layout([(100, 30)] * 6, [(0, 1), (1, 2), (2, 4), (3, 5), (4, 5)])
    assert found.corners[3][1] == found.corners[4][1]


def test_side_inputs_and_lines_around_blocks_do_not_push_a_long_chain_aside():
    """Blocks of four boxes, each with a side input, and a line around it."""
    sizes, edges, last = [(100, 30)], [], 0
    for _ in range(200):
        first = last
        for index in range(4):
            sizes += [(100, 30)] * (1 + (index == 1))
            edges += [(last, len(sizes) - 1)] + [(len(sizes) - 2, len(sizes) - 1)] * (index == 1)
            last = len(sizes) - 1
        edges.append((first, last))
    assert layout(sizes, edges).width < 600


def test_no_boxes_at_all():
    assert layout([], []).lines == []


def test_a_chain_of_100_000_boxes():
    sizes, edges = chain(100_000)
    assert len(set(layout(sizes, edges).corners)) == 100_000
