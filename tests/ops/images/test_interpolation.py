"""Interpolate, compared with OpenVINO."""

import numpy as np
import openvino
import pytest
from openvino.passes import ConstantFolding, Manager

from tests.ops.oracle import Data, Unknown, both_refuse, in_hetero, in_openvino, run, same_results, same_shapes

IMAGE = np.random.default_rng(0).standard_normal((1, 2, 7, 5), dtype=np.float32)
SPATIAL = np.array([2, 3])
COORDINATES = ("half_pixel", "pytorch_half_pixel", "asymmetric", "tf_half_pixel_for_nn", "align_corners")
MODES = [
    *[("nearest", rounding) for rounding in ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil", "simple")],
    ("linear", "floor"),
    ("linear_onnx", "floor"),
    ("cubic", "floor"),
]


def targets():
    """Upsampling, downsampling, one axis only, a single element, the same size."""
    yield from (("sizes", np.array(sizes)) for sizes in ([14, 9], [3, 4], [7, 14], [1, 5], [7, 5]))
    yield from (("scales", np.array(scales, np.float32)) for scales in ([2.0, 1.5], [0.6, 0.5]))


@pytest.mark.parametrize("coordinates", COORDINATES)
@pytest.mark.parametrize(("mode", "rounding"), MODES)
def test_modes(mode, rounding, coordinates):
    for calculation, target in targets():
        same_results(
            "interpolate", Data(IMAGE), target, mode, calculation, None, None, coordinates, rounding, axes=SPATIAL,
            tolerance=1e-4,
        )  # fmt: skip


@pytest.mark.parametrize("mode", ["bilinear_pillow", "bicubic_pillow"])
def test_pillow_modes(mode):
    for calculation, target in targets():
        if calculation == "sizes":
            same_results(
                "interpolate", Data(IMAGE), target, mode, calculation, cube_coeff=-0.5, axes=SPATIAL, tolerance=1e-4
            )


@pytest.mark.parametrize("sizes", [[8, 8], [3, 20], [31, 5]], ids=str)
def test_pillow_rounds_bytes_after_each_axis(sizes):
    image = np.random.default_rng(3).integers(0, 256, (1, 3, 16, 12)).astype(np.uint8)
    keywords = {"cube_coeff": -0.5, "axes": SPATIAL}
    same_results("interpolate", Data(image), np.array(sizes), "bicubic_pillow", "sizes", tolerance=0, **keywords)


@pytest.mark.parametrize(
    ("shape", "target", "attributes"),
    [
        ((1, 2, 7, 5), [12, 13], {"mode": "linear", "pads_begin": [0, 0, 1, 0], "pads_end": [0, 0, 0, 2]}),
        ((1, 2, 7, 5), [12, 13], {"mode": "nearest", "pads_begin": [0, 0, 1, 0], "pads_end": [0, 0, 0, 2]}),
        ((1, 2, 4, 7, 5), [5, 12, 13], {"mode": "linear_onnx", "axes": np.array([2, 3, 4])}),
        ((1, 2, 4, 7, 5), [5, 3, 13], {"mode": "nearest", "axes": np.array([2, 3, 4])}),
        ((1, 2, 4, 7), [1, 2, 5, 3], {"mode": "nearest", "axes": None}),
        ((1, 2, 7, 5), [3, 13], {"mode": "cubic", "cube_coeff": -0.5}),
    ],
    ids=str,
)
def test_other_attributes(shape, target, attributes):
    image = np.random.default_rng(0).standard_normal(shape, dtype=np.float32)
    attributes = {"shape_calculation_mode": "sizes", "axes": SPATIAL, **attributes}
    same_results("interpolate", Data(image), np.array(target), tolerance=1e-4, **attributes)


@pytest.mark.parametrize("sizes", [[3, 4], [14, 3], [14, 9]])
def test_antialias(sizes):
    """OpenVINO's CPU device ignores antialias, so the result is compared with its constant folding."""
    arguments = (IMAGE, np.array(sizes), "linear", "sizes")
    keywords = {"antialias": True, "axes": SPATIAL}
    node, _ = in_openvino("interpolate", 13, arguments, keywords)
    model = openvino.Model([node], [])
    manager = Manager()
    manager.register_pass(ConstantFolding())
    manager.run_passes(model)
    expected = model.get_results()[0].input_value(0).get_node().data
    ours, _ = in_hetero("interpolate", 13, arguments, keywords)
    np.testing.assert_allclose(run(ours, [], [])[0], expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    "case",
    [
        (Unknown([1, 1, 5, -1]), np.array([1.5, 2.0], np.float32), "scales", SPATIAL),
        (Unknown([1, 1, 5, (3, 7)]), np.array([1.5, 1.5], np.float32), "scales", SPATIAL),
        (Unknown([1, 1, 10, 100]), np.array([0.3, 1.1], np.float32), "scales", SPATIAL),
        (Unknown([1, 1, 10, 100]), np.array([2.3, 0.7], np.float32), "scales", SPATIAL),
        (Unknown([1, 1, 5, -1]), Unknown([2], np.int64), "sizes", SPATIAL),
        (Unknown([1, 1, 5, -1]), Unknown([2], np.int64), "sizes", Unknown([2], np.int64)),
        (Unknown("[...]"), np.array([8, 9]), "sizes", SPATIAL),
        (Unknown([1, 1, 5, -1]), np.array([1, 1, 8, 9]), "sizes", None),
    ],
    ids=str,
)
def test_shapes(case):
    image, target, calculation, axes = case
    same_shapes("interpolate", image, target, "nearest", calculation, axes=axes)


def test_what_cannot_be():
    both_refuse("interpolate", Unknown([1, 1, 5, 5]), np.array([8, 9]), "nearest", "sizes", axes=np.array([2, 4]))


@pytest.mark.parametrize("aligned", [True, False])
@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
def test_version_1(mode, aligned):
    attributes = {"axes": [2, 3], "mode": mode, "align_corners": aligned}
    for sizes in ([8, 4], [3, 11], [7, 5]):
        same_results("interpolate", Data(IMAGE), np.array(sizes), attributes, opset=1, tolerance=1e-4)
    pads = {"pads_begin": [0, 0, 1, 0], "pads_end": [0, 0, 0, 1]}
    same_results("interpolate", Data(IMAGE), np.array([8, 9]), attributes | pads, opset=1, tolerance=1e-4)


@pytest.mark.parametrize("aligned", [True, False])
@pytest.mark.parametrize("shape", [(1, 2, 7), (1, 2, 4, 3, 5)])
def test_version_1_of_other_ranks(shape, aligned):
    image = np.random.default_rng(0).standard_normal(shape, dtype=np.float32)
    axes = list(range(2, len(shape)))
    attributes = {"axes": axes, "mode": "linear", "align_corners": aligned}
    same_results("interpolate", Data(image), np.array([8, 4, 3][: len(axes)]), attributes, opset=1, tolerance=1e-4)


@pytest.mark.parametrize("calculation", ["sizes", "scales"])
@pytest.mark.parametrize("mode", ["nearest", "linear", "linear_onnx", "cubic"])
def test_version_4(mode, calculation):
    for coordinates in COORDINATES:
        same_results(
            "interpolate", Data(IMAGE), np.array([9, 4]), np.float32([1.4, 0.7]), mode, calculation, None, None,
            coordinates, axes=SPATIAL, opset=10, tolerance=1e-4,
        )  # fmt: skip


def test_shapes_of_older_versions():
    image = Unknown([1, 2, (3, 9), 4])
    same_shapes("interpolate", image, Unknown([2], np.int64), {"axes": [2, 3], "mode": "nearest"}, opset=1)
    same_shapes("interpolate", Unknown("[...]"), np.array([2, 3]), {"axes": [2, 3], "mode": "nearest"}, opset=1)
    for calculation in ("sizes", "scales"):
        same_shapes(
            "interpolate", image, Unknown([2], np.int64), np.float32([2, 0.5]), "nearest", calculation,
            axes=SPATIAL, opset=10,
        )  # fmt: skip
