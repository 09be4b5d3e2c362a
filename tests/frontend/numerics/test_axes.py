"""Reductions, segments, slices, paddings and groups."""

import math

import numpy as np
import pytest

from hetero.core.shape import Dimension
from hetero.frontend.numerics import convolution, movement, reduction, segments
from hetero.frontend.translation.values import int64
from hetero.graph import Parameter
from hetero.system.errors import FrontendError
from tests.frontend.numerics.evaluate import evaluate

DATA = np.array([[1.0, -2.0, 3.0], [0.0, 5.0, -6.0]], np.float32)


@pytest.mark.parametrize("keeps_axes", [False, True])
def test_log_sum_exp(keeps_axes):
    values = np.array([[1000.0, 1000.0], [-math.inf, -math.inf], [0.0, math.inf], [1.0, 2.0]])
    found = evaluate(lambda value: reduction.log_sum_exp(value, int64([1]).output(0), keeps_axes), values)
    expected = [1000 + math.log(2), -math.inf, math.inf, math.log(math.e + math.e**2)]
    np.testing.assert_allclose(found, np.reshape(expected, (4, 1) if keeps_axes else 4))


@pytest.mark.parametrize("order", [0, 1, 2, 3, 0.5, math.inf, -math.inf])
def test_norm(order):
    found = evaluate(lambda value: reduction.norm(value, int64([1]).output(0), order, False), DATA)
    np.testing.assert_allclose(found, np.linalg.norm(DATA, order, axis=1), rtol=1e-6)


def test_segments():
    data, numbers = np.array([1.0, 2.0, 3.0, 4.0], np.float32), np.array([2, 0, -1, 2])
    for name, expected in {"sum": [2, 0, 5], "prod": [2, 1, 4]}.items():
        found = evaluate(lambda *v, name=name: segments.reduce_unsorted_segments(*v, name), data, numbers, np.array(3))
        assert found.tolist() == expected
    ordered, count = np.array([0, 0, 2, 2]), np.array([3])
    assert evaluate(segments.count_of_sorted, ordered).tolist() == [3]
    assert evaluate(segments.mean_of_segments, data, ordered, count).tolist() == [1.5, 0, 3.5]
    largest = evaluate(lambda *values: segments.reduce_segments(*values, "max"), data, ordered, count)
    assert largest.tolist() == [2, np.finfo(np.float32).min, 4]


def test_scattering():
    indices, rows, shape = np.array([[2], [0], [2]]), np.float32([1, 2, 3]), np.array([4])
    assert evaluate(segments.scatter_rows, indices, rows, shape).tolist() == [2, 0, 4, 0]
    default = np.float32(7)
    assert evaluate(segments.sparse_to_dense, np.array([2, 0]), shape, np.float32([1, 2]), default).tolist() == [
        2, 7, 1, 7,
    ]  # fmt: skip
    assert evaluate(segments.sparse_to_dense, np.array([2, 0]), shape, np.float32(1), default).tolist() == [1, 7, 1, 7]


def test_end_of_slice():
    begin, size = np.array([1, 2]), np.array([3, -1])
    end = evaluate(movement.end_of_slice, begin, size)
    assert end[0] == 4 and DATA[:, 2 : end[1]].tolist() == DATA[:, 2:].tolist()


@pytest.mark.parametrize("pads", [((1, 2), (1, 1)), ((0, 4), (0, 5)), ((0, 0), (0, 0))])
def test_pad_wrap(pads):
    begin, end = np.array(pads)
    expected = np.pad(DATA, np.transpose(pads), "wrap")
    assert evaluate(movement.pad_wrap, DATA, begin, end).tolist() == expected.tolist()
    known = evaluate(lambda value: movement.pad_wrap(value, int64(begin).output(0), int64(end).output(0)), DATA)
    assert known.tolist() == expected.tolist()


def test_pad_wrap_of_known_pads_has_a_known_shape():
    value = Parameter(np.float32, [2, 3]).output(0)
    padded = movement.pad_wrap(value, int64([0, 1]).output(0), int64([1, 0]).output(0))
    assert padded.partial_shape == [3, 4]


def test_groups_of_filters():
    filters = np.arange(24, dtype=np.float32).reshape(4, 2, 3)
    split = evaluate(lambda value: convolution.split_groups(value, 2), filters)
    assert split.tolist() == filters.reshape(2, 2, 2, 3).tolist()
    value = Parameter(np.float32, filters.shape).output(0)
    assert convolution.split_groups_of_channels(value, Dimension(8)).partial_shape == [4, 1, 2, 3]
    for channels in (Dimension(2), Dimension()):
        assert convolution.split_groups_of_channels(value, channels) is value
    for channels in (3, 1):
        with pytest.raises(FrontendError, match="do not divide"):
            convolution.split_groups_of_channels(value, Dimension(channels))
    for groups in (3, 0):
        with pytest.raises(FrontendError, match="cannot be split into"):
            convolution.split_groups(value, groups)
    unknown = Parameter(np.float32, [4, -1, 3]).output(0)
    assert convolution.split_groups(unknown, 2).partial_shape.rank == 4


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_stack(axis):
    assert evaluate(lambda *values: movement.stack(values, axis), DATA, -DATA).tolist() == (
        np.stack([DATA, -DATA], axis).tolist()
    )
