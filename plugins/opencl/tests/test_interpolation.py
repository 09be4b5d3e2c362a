"""Interpolate on every OpenCL device, beside OpenVINO's CPU device."""

import numpy as np
import openvino
import pytest

import hetero
from hetero.graph import Model
from tests.ops.oracle import Data, in_hetero, in_openvino

core = hetero.Core()

MODES = ["nearest", "linear", "linear_onnx", "cubic", "bilinear_pillow", "bicubic_pillow"]
# The shape of the image, the axes, and their sizes: both, one, the last, in the middle, three, and the same size.
CASES = [
    ((1, 2, 7, 5), (2, 3), (14, 9)),
    ((1, 2, 7, 5), (2, 3), (3, 70)),
    ((1, 2, 7, 5), (2, 3), (7, 13)),
    ((1, 2, 7, 5), (2, 3), (3, 5)),
    ((1, 7, 5, 3), (1, 2), (4, 20)),
    ((1, 2, 7, 5), (2, 3), (7, 5)),
]


def results(device, arguments, keywords):
    """What OpenVINO computes, and what we do."""
    node, parameters = in_openvino("interpolate", 13, arguments, keywords)
    compiled = openvino.Core().compile_model(
        openvino.Model([node], parameters), "CPU", {"INFERENCE_PRECISION_HINT": "f32"}
    )
    expected = compiled([arguments[0].array])[0]
    node, parameters = in_hetero("interpolate", 13, arguments, keywords)
    request = core.compile_model(Model([node], parameters), device).create_infer_request()
    request.infer([arguments[0].array])
    return expected, request.get_output_tensor(0).data


def image(shape):
    return Data(np.random.default_rng(0).standard_normal(shape, np.float32))


@pytest.mark.parametrize(
    "mode, shape, axes, sizes",
    # With Pillow's modes OpenVINO resizes the last two axes only, so it is no oracle of them for others.
    [(mode, *case) for mode in MODES for case in CASES if not (mode.endswith("pillow") and case[1] == (1, 2))],
)
def test_modes(device, mode, shape, axes, sizes):
    arguments = (image(shape), np.array(sizes), mode, "sizes")
    # OpenVINO's CPU device takes the coefficient -0.5 for bicubic_pillow, whatever the node says.
    expected, found = results(device, arguments, {"axes": np.array(axes), "cube_coeff": -0.5})
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("coordinates", ["asymmetric", "align_corners", "pytorch_half_pixel", "tf_half_pixel_for_nn"])
@pytest.mark.parametrize("mode", ["nearest", "linear_onnx", "cubic"])
@pytest.mark.parametrize("scales", [(2.0, 2.0), (0.6, 3.0)])
def test_scales_and_coordinates(device, coordinates, mode, scales):
    arguments = (image((2, 3, 9, 20)), np.array(scales, np.float32), mode, "scales", None, None, coordinates)
    expected, found = results(device, arguments, {"axes": np.array([2, 3])})
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("mode", ["nearest", "linear_onnx"])
def test_three_axes(device, mode):
    arguments = (image((1, 2, 4, 7, 5)), np.array([5, 12, 13]), mode, "sizes")
    expected, found = results(device, arguments, {"axes": np.array([2, 3, 4])})
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("dtype", [np.int32, np.uint8, np.int64])
def test_nearest_of_integers(device, dtype):
    """Twice the size, with asymmetric coordinates rounded down: every element twice."""
    data = np.arange(2 * 3 * 4).reshape(1, 2, 3, 4).astype(dtype)
    arguments = (Data(data), np.array([6, 8]), "nearest", "sizes", None, None, "asymmetric", "floor")
    node, parameters = in_hetero("interpolate", 13, arguments, {"axes": np.array([2, 3])})
    request = core.compile_model(Model([node], parameters), device).create_infer_request()
    request.infer([data])
    np.testing.assert_array_equal(request.get_output_tensor(0).data, data.repeat(2, 2).repeat(2, 3), strict=True)


@pytest.mark.parametrize(
    "dtype, keywords, reason",
    [(np.int32, {"mode": "cubic"}, "mode cubic"), (np.float32, {"mode": "nearest", "pads_begin": [0, 1]}, "pads")],
)
def test_refusal_says_why(device, dtype, keywords, reason):
    arguments = (Data(np.zeros((3, 4), dtype)), np.array([6, 8]))
    keywords = {"shape_calculation_mode": "sizes", "axes": np.array([0, 1]), **keywords}
    node, parameters = in_hetero("interpolate", 13, arguments, keywords)
    with pytest.raises(hetero.HeteroError, match=reason):
        core.compile_model(Model([node], parameters), device)
