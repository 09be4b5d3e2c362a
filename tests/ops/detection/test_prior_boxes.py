"""PriorBox and PriorBoxClustered, compared with OpenVINO."""

import numpy as np
import pytest

from tests.ops.oracle import Unknown, both_refuse, same_results, same_shapes

CELLS, IMAGE = np.array([3, 5], np.int64), np.array([90, 120], np.int64)
PRIOR, CLUSTERED = "prior_box", "prior_box_clustered"


def f32(*values):
    return np.array(values, np.float32)


SIZES = {"offset": 0.4, "min_size": f32(10, 31), "max_size": f32(20, 50), "aspect_ratio": f32(2, 3)}
DENSE = {"offset": 0.5, "fixed_size": f32(9, 16.5), "density": f32(2, 3)}
ATTRIBUTES = [
    SIZES,
    SIZES | {"flip": True, "clip": True, "step": 20.0},
    SIZES | {"variance": f32(0.1, 0.2, 0.3, 0.4), "aspect_ratio": f32(2, 0.5, 1, 2), "flip": True},
    SIZES | {"max_size": f32(), "variance": f32(0.3)},
    SIZES | {"scale_all_sizes": False, "min_size": f32(0.1, 0.2), "max_size": f32(), "step": 0.2},
    {"offset": 0.5, "scale_all_sizes": False, "min_size": f32(0.2), "aspect_ratio": f32(2.0)},
    DENSE,
    DENSE | {"aspect_ratio": f32(2), "flip": True},
    DENSE | {"aspect_ratio": f32(2), "fixed_ratio": f32(1, 2.5)},
    DENSE | {"step": 30.0, "clip": True},
]
WIDTHS = {"offset": 0.5, "width": f32(20, 70), "height": f32(30, 50)}
RESULTS = [
    *[(PRIOR, opset, CELLS, IMAGE, attributes) for attributes in ATTRIBUTES for opset in (1, 8)],
    (PRIOR, 8, CELLS, IMAGE, SIZES | {"min_max_aspect_ratios_order": False}),
    (PRIOR, 8, CELLS.astype(np.int32), IMAGE.astype(np.int32), SIZES),
    (CLUSTERED, 1, CELLS, IMAGE, WIDTHS),
    (CLUSTERED, 1, CELLS, IMAGE, WIDTHS | {"clip": False, "step_w": 10.0, "step_h": 20.0}),
    (CLUSTERED, 1, CELLS, IMAGE, WIDTHS | {"clip": False, "step": 16.0, "variance": f32(0.1, 0.1, 0.2, 0.2)}),
]  # fmt: skip


@pytest.mark.parametrize("case", RESULTS, ids=str)
def test_results(case):
    name, opset, cells, image, attributes = case
    same_results(name, cells, image, attributes, opset=opset)


SHAPES = [
    (PRIOR, 8, Unknown([2], np.int64), Unknown([2], np.int64), SIZES),
    (PRIOR, 1, CELLS, Unknown([2], np.int64), SIZES),
    (CLUSTERED, 1, Unknown([2], np.int64), Unknown([2], np.int64), WIDTHS),
    (CLUSTERED, 1, CELLS, Unknown([2], np.int64), WIDTHS),
    (CLUSTERED, 1, CELLS, IMAGE, {"offset": 0.5}),
]


@pytest.mark.parametrize("case", SHAPES, ids=str)
def test_shapes(case):
    name, opset, *arguments = case
    same_shapes(name, *arguments, opset=opset)


REFUSED = [
    (PRIOR, 8, np.array([3, 5, 6]), IMAGE, SIZES),
    (PRIOR, 8, f32(3, 5), IMAGE, SIZES),
    (PRIOR, 8, CELLS, f32(90, 120), SIZES),
    (CLUSTERED, 1, CELLS, IMAGE, WIDTHS | {"height": f32(3)}),
    (CLUSTERED, 1, f32(3, 5), IMAGE, WIDTHS),
]


@pytest.mark.parametrize("case", REFUSED, ids=str)
def test_refused(case):
    name, opset, *arguments = case
    both_refuse(name, *arguments, opset=opset)
