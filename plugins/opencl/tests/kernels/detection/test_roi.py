"""Region pooling, compared with OpenVINO, or with the reference for other types."""

import ml_dtypes
import numpy as np
import pytest

import hetero
from hetero import ops
from hetero.graph import Parameter
from tests.ops.detection.test_roi import BOXES, DATA, DEEP, IMAGES, PARTS, RANDOM, REGIONS
from tests.ops.oracle import Data

# Compared with OpenVINO, which also sums the samples of a bin one by one; numpy sums pairwise.
ANGLES = np.random.default_rng(0).uniform(-4, 4, (len(BOXES) - 1, 1))
ROTATED = np.hstack([BOXES[:-1], ANGLES]).astype(np.float32)


@pytest.mark.parametrize("mode", ["avg", "max"])
@pytest.mark.parametrize("ratio", [0, 2])
@pytest.mark.parametrize("scale", [1.0, 0.5])
def test_roi_align(openvino_agrees, scale, ratio, mode):
    arguments = (Data(DATA), Data(BOXES[:-2]), Data(IMAGES[:-2]), 2, 3, ratio, scale, mode)
    openvino_agrees("roi_align", *arguments, opset=3)
    for aligned in ("asymmetric", "half_pixel_for_nn", "half_pixel"):
        openvino_agrees("roi_align", *arguments, aligned)


@pytest.mark.parametrize("clockwise", [True, False])
@pytest.mark.parametrize("ratio", [0, 2])
def test_roi_align_rotated(openvino_agrees, ratio, clockwise):
    arguments = (Data(DATA), Data(ROTATED), Data(IMAGES[:-1]), 3, 2, ratio, 0.5, clockwise)
    # Angles are computed in f32.
    openvino_agrees("roi_align_rotated", *arguments, opset=15, tolerance=1e-4)


@pytest.mark.parametrize("ratio", [0, 2])
def test_largest_term(run, ratio):
    arrays = [DATA, BOXES, IMAGES]
    inputs = [Parameter(hetero.Type(array.dtype), array.shape) for array in arrays]
    node = ops.ROIAlignLargestTerm(*inputs, 2, 3, ratio, 0.5, mode="max")
    (expected,) = hetero.reference.evaluate(node, arrays)
    np.testing.assert_allclose(run([node], inputs, arrays)[0], expected, rtol=1e-5, atol=1e-6, strict=True)


@pytest.mark.parametrize("size", [(2, 3), (1, 1), (5, 4)])
def test_roi_pooling(openvino_agrees, size):
    openvino_agrees("roi_pooling", Data(DATA), Data(REGIONS), list(size), 0.5, "max")
    openvino_agrees("roi_pooling", Data(DATA), Data(PARTS), list(size), 1.0, "bilinear")


@pytest.mark.parametrize("size", [1, 2, 4])
def test_psroi_pooling(openvino_agrees, size):
    # OpenVINO computes lengths below 0 for the last region, whose edges are in wrong order.
    data = Data(DEEP[:, : 3 * size * size])
    openvino_agrees("psroi_pooling", data, Data(REGIONS[:-1]), 3, size, 0.5, 1, 1, "average")
    openvino_agrees("psroi_pooling", Data(DEEP), Data(PARTS), 8, size, 0.5, 3, 2, "bilinear")


@pytest.mark.parametrize("size", [1, 4])
@pytest.mark.parametrize("bins", [(1, 1), (3, 2)])
def test_deformable_psroi_pooling(openvino_agrees, bins, size):
    attributes = (3, 0.5, size, "bilinear_deformable", *bins)
    openvino_agrees("deformable_psroi_pooling", Data(DEEP), Data(REGIONS), *attributes)
    offsets = RANDOM.uniform(-1, 1, (len(REGIONS), 2 * 3, 2, 2)).astype(np.float32)
    for classes in (1, 3):
        moved = (0.3, 2, Data(offsets[:, : 2 * classes]))
        openvino_agrees("deformable_psroi_pooling", Data(DEEP), Data(REGIONS), *attributes, *moved)


@pytest.mark.parametrize("dtype, tolerance", [("f2", 1e-3), (ml_dtypes.bfloat16, 1e-2), ("f8", 1e-6)], ids=str)
def test_element_types(reference_agrees, dtype, tolerance):
    boxes, regions, parts, rotated = (Data(array.astype(dtype)) for array in (BOXES, REGIONS, PARTS, ROTATED))
    data, deep, images = Data(DATA.astype(dtype)), Data(DEEP.astype(dtype)), Data(IMAGES.astype(np.int64))
    # The image index of a region is exact in each of these types.
    cases = [
        ("roi_align", data, boxes, images, 2, 3, 2, 0.5, "avg", "half_pixel"),
        ("roi_align_rotated", data, rotated, Data(IMAGES[:-1]), 3, 2, 2, 0.5, True),
        ("roi_pooling", data, regions, [2, 3], 0.5, "max"),
        ("roi_pooling", data, parts, [2, 3], 1.0, "bilinear"),
        ("psroi_pooling", deep, parts, 8, 2, 0.5, 3, 2, "bilinear"),
        ("deformable_psroi_pooling", deep, regions, 3, 0.5, 4, "bilinear_deformable", 3, 2),
    ]
    for name, *arguments in cases:
        reference_agrees(name, *arguments, opset=15, tolerance=tolerance)


def test_nan_is_the_largest(reference_agrees, run):
    data, boxes, images = DATA.copy(), np.float32([[2, 2, 10, 8]]), np.int32([1])
    data[..., 3, 3] = np.nan
    reference_agrees("roi_pooling", Data(data), Data(REGIONS), [2, 3], 0.5, "max")
    reference_agrees("roi_align", Data(data), Data(boxes), Data(images), 2, 3, 2, 0.5, "max", "half_pixel")
    inputs = [Parameter(hetero.Type(array.dtype), array.shape) for array in (data, boxes, images)]
    node = ops.ROIAlignLargestTerm(*inputs, 2, 3, 2, 0.5, mode="max")
    (expected,) = hetero.reference.evaluate(node, [data, boxes, images])
    np.testing.assert_allclose(run([node], inputs, [data, boxes, images])[0], expected, rtol=1e-5, atol=1e-6)
    assert np.isnan(expected).any() and not np.isnan(expected).all()


def test_image_indices_out_of_range(compute):
    """Their regions give zeros, and other regions are not affected."""
    images = np.int32([0, -1, 2, 2**31 - 1])
    found = compute("roi_align", (Data(DATA), Data(BOXES[:4]), Data(images), 2, 2, 2, 1.0, "avg"), {})[0]
    assert not found[1:].any()
    assert found[0].any()
    regions = np.hstack([images[:, None].astype(np.float32), BOXES[:4]])
    found = compute("roi_pooling", (Data(DATA), Data(regions), [2, 2], 1.0), {})[0]
    assert not found[1:].any()
    assert found[0].any()


@pytest.mark.parametrize("mode", ["avg", "max"])
def test_a_region_far_larger_than_the_image(reference_agrees, compute, mode):
    boxes = np.float32([[-150, -90, 200, 90], [-3, 4, 400, 6]])
    reference_agrees("roi_align", Data(DATA), Data(boxes), Data(IMAGES[:2]), 2, 3, 0, 1.0, mode)
    boxes = np.float32([[-1e9, -1e9, 1e9, 1e9], [0, 0, np.inf, np.nan]])
    (found,) = compute("roi_align", (Data(DATA), Data(boxes), Data(IMAGES[:2]), 2, 3, 0, 1.0, mode), {})
    assert np.abs(found).max() < 1
