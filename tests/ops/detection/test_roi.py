"""Region of interest (ROI) pooling, compared with OpenVINO."""

import numpy as np
import pytest

from tests.ops.oracle import Data, Unknown, both_refuse, in_hetero, run, same_results, same_shapes

RANDOM = np.random.default_rng(4)
DATA = RANDOM.standard_normal((2, 3, 9, 11), dtype=np.float32)
DEEP = RANDOM.standard_normal((2, 48, 9, 11), dtype=np.float32)
# x1, y1, x2, y2: inside the image, partly or wholly outside, empty, with edges in the wrong order.
BOXES = np.float32(
    [
        [1, 2, 7, 6],
        [0, 0, 10, 8],
        [0.3, 1.7, 4.4, 7.9],
        [2.5, 2.5, 3.5, 4.5],
        [-3, -2, 4, 5],
        [6, 5, 15, 14],
        [20, 20, 25, 22],
        [4, 4, 4, 4],
        [7, 6, 5, 3],
    ]
)
IMAGES = np.int32([0, 1, 1, 0, 1, 0, 0, 1, 0])
REGIONS = np.hstack([IMAGES[:, None], BOXES]).astype(np.float32)
# The same as fractions of the image.
PARTS = REGIONS / np.float32([1, 11, 9, 11, 9])


@pytest.mark.parametrize("scale", [1.0, 0.5])
@pytest.mark.parametrize("size", [(2, 3), (1, 1), (5, 4)])
def test_roi_pooling(size, scale):
    same_results("roi_pooling", Data(DATA), Data(REGIONS), list(size), scale, "max")
    same_results("roi_pooling", Data(DATA), Data(PARTS), list(size), scale, "bilinear")


@pytest.mark.parametrize("mode", ["avg", "max"])
@pytest.mark.parametrize("ratio", [0, 2, 3])
@pytest.mark.parametrize("size", [(2, 3), (1, 1)])
@pytest.mark.parametrize("scale", [1.0, 0.5])
def test_roi_align(scale, size, ratio, mode):
    arguments = (Data(DATA), Data(BOXES[:-1]), Data(IMAGES[:-1]), *size, ratio, scale, mode)
    same_results("roi_align", *arguments, opset=3)
    if ratio == 0:
        # OpenVINO divides 0 by 0 for an empty bin without samples.
        arguments = (Data(DATA), Data(BOXES[:-2]), Data(IMAGES[:-2]), *arguments[3:])
    for aligned in ("asymmetric", "half_pixel_for_nn", "half_pixel"):
        same_results("roi_align", *arguments, aligned)


@pytest.mark.parametrize("clockwise", [True, False])
@pytest.mark.parametrize("ratio", [0, 2])
@pytest.mark.parametrize("scale", [1.0, 0.5])
def test_roi_align_rotated(scale, ratio, clockwise):
    regions = np.hstack([BOXES[:-1], RANDOM.uniform(-4, 4, (len(BOXES) - 1, 1))]).astype(np.float32)
    arguments = (Data(DATA), Data(regions), Data(IMAGES[:-1]), 3, 2, ratio, scale, clockwise)
    same_results("roi_align_rotated", *arguments, opset=15, tolerance=1e-4)


@pytest.mark.parametrize("scale", [1.0, 0.5])
@pytest.mark.parametrize("size", [1, 2, 4])
def test_psroi_pooling(size, scale):
    # OpenVINO computes negative lengths for the last region, whose edges are in the wrong order.
    data = Data(DEEP[:, : 3 * size * size])
    same_results("psroi_pooling", data, Data(REGIONS[:-1]), 3, size, scale, 1, 1, "average")
    same_results("psroi_pooling", Data(DEEP), Data(PARTS), 8, size, scale, 3, 2, "bilinear")


@pytest.mark.parametrize("scale", [1.0, 0.5])
@pytest.mark.parametrize("size", [1, 2, 4])
@pytest.mark.parametrize("bins", [(1, 1), (3, 2)])
def test_deformable_psroi_pooling(bins, size, scale):
    attributes = (3, scale, size, "bilinear_deformable", *bins)
    same_results("deformable_psroi_pooling", Data(DEEP), Data(REGIONS), *attributes)
    offsets = RANDOM.uniform(-1, 1, (len(REGIONS), 2 * 3, 2, 2)).astype(np.float32)
    for classes in (1, 3):
        moved = (0.3, 2, Data(offsets[:, : 2 * classes]))
        same_results("deformable_psroi_pooling", Data(DEEP), Data(REGIONS), *attributes, *moved)


PLAIN = [("roi_pooling", [2, 3], 1.0), ("roi_align", 2, 3, 1, 1.0, "avg"), ("roi_align_rotated", 2, 3, 1, 1.0, True)]
GROUPED = [("psroi_pooling", 4, 2, 1.0, 1, 1, "average"), ("deformable_psroi_pooling", 4, 1.0, 2)]
# Numbers per region; ROIAlign has the image index in a separate input.
LENGTHS = {"roi_align": 4}
WITH_IMAGES = ("roi_align", "roi_align_rotated")


def inputs_of(name, data, regions, images="[...]"):
    inputs = [Unknown(data), Unknown(regions)]
    return [*inputs, Unknown(images, np.int32)] if name in WITH_IMAGES else inputs


@pytest.mark.parametrize("data", ["[...]", [1, 16, -1, (3, 5)], [-1, -1, -1, -1]], ids=str)
@pytest.mark.parametrize("count", [None, -1, 7, (3, 5)])
@pytest.mark.parametrize("case", PLAIN + GROUPED, ids=str)
def test_dynamic_shapes(case, count, data):
    name, *attributes = case
    regions = "[...]" if count is None else [count, LENGTHS.get(name, 5)]
    same_shapes(name, *inputs_of(name, data, regions), *attributes, opset=15)


@pytest.mark.parametrize("name", WITH_IMAGES)
def test_the_number_of_images_tells_that_of_regions(name):
    attributes = next(attributes for other, *attributes in PLAIN if other == name)
    same_shapes(name, *inputs_of(name, [1, 3, 8, 8], "[...]", [7]), *attributes, opset=15)
    both_refuse(name, *inputs_of(name, [1, 3, 8, 8], [6, LENGTHS.get(name, 5)], [7]), *attributes, opset=15)


@pytest.mark.parametrize("case", PLAIN + GROUPED[:1], ids=str)
@pytest.mark.parametrize("shapes", [([1, 16, 8], [3, 5]), ([1, 16, 8, 8], [3, 3]), ([1, 16, 8, 8], [5])], ids=str)
def test_shapes_that_cannot_be(shapes, case):
    name, *attributes = case
    both_refuse(name, *inputs_of(name, *shapes), *attributes, opset=15)


IMAGE, FIVE = Unknown([1, 16, 8, 8]), Unknown([3, 5])


@pytest.mark.parametrize(
    "case",
    [
        ("roi_pooling", IMAGE, FIVE, [2, 2], 0.0),
        ("roi_pooling", IMAGE, FIVE, [0, 2], 1.0),
        ("roi_pooling", IMAGE, Unknown([3, 5], np.float16), [2, 2], 1.0),
        ("roi_pooling", IMAGE, FIVE, [2, 2], 1.0, "mean"),
        ("roi_align", IMAGE, Unknown([3, 4]), Unknown([3]), 2, 2, 1, 1.0, "avg"),
        ("psroi_pooling", IMAGE, FIVE, 4, 3, 1.0, 1, 1, "average"),
        ("psroi_pooling", IMAGE, FIVE, 4, 3, 1.0, 3, 2, "bilinear"),
        ("deformable_psroi_pooling", IMAGE, FIVE, 0, 1.0, 2),
        ("deformable_psroi_pooling", IMAGE, FIVE, 4, 1.0, 2, "bilinear_deformable", 1, 1, 1.0, 2, Unknown([3, 2, 2])),
    ],
    ids=str,
)
def test_what_cannot_be(case):
    both_refuse(*case)


@pytest.mark.filterwarnings("ignore:`output_size` is deprecated")
def test_a_size_by_its_other_name():
    same_results("roi_pooling", Data(DATA), Data(REGIONS), spatial_scale=1.0, output_size=[2, 3])


def test_an_image_that_is_none():
    """Regions with image index -1 give zeros; OpenVINO requires them at the end."""
    regions = np.vstack([REGIONS[:2], [[-1, 0, 0, 3, 3]]]).astype(np.float32)
    same_results("roi_pooling", Data(DATA), Data(regions), [2, 2], 1.0)
    same_results("deformable_psroi_pooling", Data(DEEP), Data(regions), 3, 1.0, 2)
    pool, inputs = in_hetero("roi_pooling", 2, (Data(DATA), Data(regions + 3), [2, 2], 1.0), {})
    with pytest.raises(ValueError, match="image 3, but there are 2"):
        run(pool, inputs, [DATA, regions + 3])


@pytest.mark.parametrize("number", [-1, 2])
@pytest.mark.parametrize("name", WITH_IMAGES)
def test_an_image_that_is_not_there(name, number):
    attributes = next(attributes for other, *attributes in PLAIN if other == name)
    regions = REGIONS[:1, -LENGTHS.get(name, 5) :]
    pool, inputs = in_hetero(name, 15, (Data(DATA), regions, np.int32([number]), *attributes), {})
    with pytest.raises(ValueError, match=f"image {number}, but there are 2"):
        run(pool, inputs, [DATA])


@pytest.mark.parametrize("count", [0, 2])
def test_no_channels_or_no_regions(count):
    data = Data(DATA[:, :0] if count else DATA)
    same_results("roi_align", data, Data(BOXES[:count]), Data(IMAGES[:count]), 2, 2, 1, 1.0, "avg")
