"""ExtractImagePatches and Col2Im, compared with OpenVINO."""

import numpy as np
import pytest

from hetero import Parameter, Type, ops
from tests.ops.oracle import Data, Unknown, both_refuse, same_results, same_shapes


def random(*shape):
    return Data(np.random.default_rng(len(shape)).standard_normal(shape, dtype=np.float32))


def ints(*values):
    return np.array(values, np.int64)


RESULTS = [
    ("col2im", 15, random(2, 12, 9), ints(4, 4), ints(2, 2)),
    ("col2im", 15, random(12, 9), ints(4, 4), ints(2, 2)),
    ("col2im", 15, random(1, 12, 4), ints(5, 4), ints(2, 3), [2, 2], [1, 1], [0, 1], [0, 1]),
    ("col2im", 15, random(2, 6, 12), ints(4, 6), ints(2, 3), [1, 1], [2, 2], [1, 1], [1, 0]),
    *[("extract_image_patches", 3, random(2, 3, 10, 9), [3, 2], [4, 3], [1, 2], pad)
      for pad in ("valid", "same_upper", "same_lower")],
    ("extract_image_patches", 3, random(1, 2, 5, 5), [4, 4], [8, 8], [1, 1], "valid"),
    ("extract_image_patches", 3, random(1, 2, 7, 8), [2, 3], [1, 2], [3, 2], "same_lower"),
]  # fmt: skip


@pytest.mark.parametrize("case", RESULTS, ids=lambda case: case[0])
def test_results(case):
    name, opset, *arguments = case
    same_results(name, *arguments, opset=opset)


def test_patches_that_do_not_fit():
    """The result is empty, as in OpenVINO's shape inference; its CPU device cannot run it."""
    same_shapes("extract_image_patches", Unknown([1, 2, 3, 9]), [4, 4], [2, 2], [1, 1], "valid", opset=3)


I64 = np.int64
SHAPES = [
    ("col2im", 15, Unknown([-1, 12, 9]), ints(4, 4), ints(2, 2)),
    ("col2im", 15, Unknown([2, -1, 9]), ints(4, 4), ints(2, 2)),
    ("col2im", 15, Unknown([2, 12, 9]), Unknown([2], I64), ints(2, 2)),
    ("col2im", 15, Unknown([2, 12, 9]), ints(4, 4), Unknown([2], I64)),
    ("extract_image_patches", 3, Unknown([-1, 2, (5, 9), -1]), [2, 2], [2, 3], [1, 1], "same_upper"),
    ("extract_image_patches", 3, Unknown("[...]"), [2, 2], [2, 2], [1, 1], "valid"),
]


@pytest.mark.parametrize("case", SHAPES, ids=str)
def test_shapes(case):
    name, opset, *arguments = case
    same_shapes(name, *arguments, opset=opset)


def test_the_places_of_an_interval_are_those_of_its_lengths():
    """Shapes into which no patch fits are included; OpenVINO infers nothing for them."""
    image = Parameter(Type.f32, [1, 2, (1, 9), 9])
    node = ops.ExtractImagePatches(image, [3, 3], [2, 2], [1, 1], "valid")
    assert node.get_output_partial_shape(0) == [1, 18, (0, 4), 4]


REFUSED = [
    ("col2im", 15, Unknown([2, 12, 8]), ints(4, 4), ints(2, 2)),
    ("col2im", 15, Unknown([2, 13, 9]), ints(4, 4), ints(2, 2)),
    ("col2im", 15, Unknown([2, 2, 12, 9]), ints(4, 4), ints(2, 2)),
    ("col2im", 15, Unknown([2, 12, 9]), ints(4, 4), ints(2, 2), [0, 1]),
    ("extract_image_patches", 3, Unknown([2, 3, 4]), [2, 2], [2, 2], [1, 1], "valid"),
    ("extract_image_patches", 3, Unknown([1, 2, 3, 4]), [2, 2, 2], [2, 2], [1, 1], "valid"),
    ("extract_image_patches", 3, Unknown([1, 2, 3, 4]), [2, 2], [0, 2], [1, 1], "valid"),
]


@pytest.mark.parametrize("case", REFUSED, ids=str)
def test_what_cannot_be(case):
    name, opset, *arguments = case
    both_refuse(name, *arguments, opset=opset)
