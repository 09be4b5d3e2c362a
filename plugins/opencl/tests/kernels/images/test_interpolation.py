"""Interpolate and Resize, compared with OpenVINO, or with the reference for what OpenVINO lacks."""

import ml_dtypes
import numpy as np
import pytest
from hetero_opencl.kernels.images import interpolation

import hetero
from hetero import ops
from hetero.graph import Model, Parameter
from tests import peak_memory
from tests.ops.oracle import Data, in_hetero

core = hetero.Core()

MODES = ["nearest", "linear", "linear_onnx", "cubic", "bilinear_pillow", "bicubic_pillow"]
SPATIAL = np.array([2, 3])
# The shape of the image, the axes, and their sizes: both, one, the last, in the middle, three, and the same size.
CASES = [
    ((1, 2, 7, 5), (2, 3), (14, 9)),
    ((1, 2, 7, 5), (2, 3), (3, 70)),
    ((1, 2, 7, 5), (2, 3), (7, 13)),
    ((1, 2, 7, 5), (2, 3), (3, 5)),
    ((1, 7, 5, 3), (1, 2), (4, 20)),
    ((1, 2, 7, 5), (2, 3), (7, 5)),
]
# The tolerance for weights computed in f32 from coordinates up to the length of the image.
WEIGHTS = 1e-4


def image(shape, dtype=np.float32):
    generator = np.random.default_rng(0)
    if np.dtype(dtype).kind in "iu":
        limits = np.iinfo(dtype)
        return Data(generator.integers(max(limits.min, -1000), min(limits.max, 1000), shape, dtype, endpoint=True))
    return Data(generator.standard_normal(shape, np.float32).astype(dtype))


@pytest.mark.parametrize(
    "mode, shape, axes, sizes",
    # OpenVINO applies Pillow's modes to the last two axes only.
    [(mode, *case) for mode in MODES for case in CASES if not (mode.endswith("pillow") and case[1] == (1, 2))],
)
def test_modes(openvino_agrees, mode, shape, axes, sizes):
    # OpenVINO's CPU device takes the coefficient -0.5 for bicubic_pillow, whatever the node says.
    keywords = {"axes": np.array(axes), "cube_coeff": -0.5}
    openvino_agrees("interpolate", image(shape), np.array(sizes), mode, "sizes", tolerance=WEIGHTS, **keywords)


@pytest.mark.parametrize("coordinates", ["asymmetric", "align_corners", "pytorch_half_pixel", "tf_half_pixel_for_nn"])
@pytest.mark.parametrize("mode", ["nearest", "linear_onnx", "cubic"])
@pytest.mark.parametrize("scales", [(2.0, 2.0), (0.6, 3.0)])
def test_scales_and_coordinates(openvino_agrees, coordinates, mode, scales):
    arguments = (image((2, 3, 9, 20)), np.array(scales, np.float32), mode, "scales", None, None, coordinates)
    openvino_agrees("interpolate", *arguments, axes=SPATIAL, tolerance=WEIGHTS)


@pytest.mark.parametrize("mode", ["nearest", "linear_onnx"])
def test_three_axes(openvino_agrees, mode):
    arguments = (image((1, 2, 4, 7, 5)), np.array([5, 12, 13]), mode, "sizes")
    openvino_agrees("interpolate", *arguments, axes=np.array([2, 3, 4]), tolerance=WEIGHTS)


@pytest.mark.parametrize("mode", ["nearest", "linear"])
@pytest.mark.parametrize("sizes", [[12, 13], [8, 7]])
def test_pads(openvino_agrees, mode, sizes):
    keywords = {"axes": SPATIAL, "pads_begin": [0, 0, 1, 0], "pads_end": [0, 0, 0, 2]}
    openvino_agrees("interpolate", image((1, 2, 7, 5)), np.array(sizes), mode, "sizes", tolerance=WEIGHTS, **keywords)


def test_antialias(reference_agrees):
    reference_agrees(
        "interpolate", image((1, 2, 7, 5)), np.array([3, 4]), "linear", "sizes", axes=SPATIAL, antialias=True
    )


def test_older_versions(openvino_agrees):
    data, sizes = image((1, 2, 7, 5)), np.array([8, 9])
    pads = {"pads_begin": [0, 0, 1, 0], "pads_end": [0, 0, 0, 1]}
    attributes = {"axes": [2, 3], "mode": "cubic", "align_corners": False, **pads}
    openvino_agrees("interpolate", data, sizes, attributes, opset=1, tolerance=WEIGHTS)
    scales = np.array([1.2, 0.5], np.float32)
    for mode in ("sizes", "scales"):
        openvino_agrees("interpolate", data, sizes, scales, "linear", mode, axes=SPATIAL, opset=10, tolerance=WEIGHTS)


TYPES = ["u1", "i1", "u2", "i2", "i4", "u4", "i8", "u8", "f2", "f8", ml_dtypes.bfloat16]


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("mode", ["nearest", "cubic"])
def test_element_types(reference_agrees, mode, dtype):
    data = image((1, 2, 5, 6), dtype)
    tolerance = {2: 1e-2 if dtype == ml_dtypes.bfloat16 else 1e-3, 8: 1e-12}.get(np.dtype(dtype).itemsize, 1e-5)
    keywords = {"pads_begin": [0, 1], "axes": SPATIAL, "tolerance": tolerance}
    reference_agrees("interpolate", data, np.array([9, 4]), mode, "sizes", **keywords)


def test_booleans(reference_agrees):
    data = Data(np.random.default_rng(0).random((1, 2, 5, 6)) < 0.5)
    reference_agrees("interpolate", data, np.array([9, 4]), "nearest", "sizes", axes=SPATIAL)


# Coordinate modes and attributes of ONNX that Interpolate lacks.
RESIZES = [
    ("nearest", {"coordinate_transformation_mode": "half_pixel_symmetric", "nearest_mode": "ceil"}, [1.7, 0.6]),
    ("linear", {"coordinate_transformation_mode": "half_pixel_symmetric"}, [1.7, 0.6]),
    ("linear", {"antialias": True}, [0.5, 0.4]),
    ("cubic", {"antialias": True, "exclude_outside": True}, [0.5, 1.4]),
    ("cubic", {"exclude_outside": True, "cube_coeff": -0.5}, [2.0, 2.0]),
    ("linear", {"keep_aspect_ratio_policy": "not_larger", "shape_calculation_mode": "sizes"}, [9, 20]),
    ("nearest", {"keep_aspect_ratio_policy": "not_smaller", "shape_calculation_mode": "sizes"}, [9, 20]),
    ("linear", {"coordinate_transformation_mode": "tf_crop_and_resize", "extrapolation_value": 10.0}, [1.0, 1.0]),
    ("nearest", {"coordinate_transformation_mode": "tf_crop_and_resize", "extrapolation_value": 7.6}, [2.0, 0.6]),
]


@pytest.mark.parametrize("mode, attributes, target", RESIZES, ids=str)
@pytest.mark.parametrize("dtype", ["f4", "i4"])
def test_resize(run, mode, attributes, target, dtype):
    data = image((1, 2, 7, 5), dtype).array
    attributes = {"shape_calculation_mode": "scales", "coordinate_transformation_mode": "half_pixel", **attributes}
    target = np.array(target, np.int64 if attributes["shape_calculation_mode"] == "sizes" else np.float32)
    is_crop = attributes["coordinate_transformation_mode"] == "tf_crop_and_resize"
    roi = [np.array([0.4, -0.2, 1.2, 0.8], np.float32)] if is_crop else []
    parameter = Parameter(hetero.Type(data.dtype), data.shape)
    node = ops.Resize(parameter, target, *roi, axes=[2, 3], mode=mode, **attributes)
    (wanted,) = hetero.reference.evaluate(node, [data, target, *roi])
    (found,) = run([node], [parameter], [data])
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5, strict=True)


def test_data_without_an_element_is_refused(device):
    arguments = (Data(np.zeros((1, 1, 0, 5), np.float32)), np.array([6, 8]), "nearest", "sizes")
    node, parameters = in_hetero("interpolate", 13, arguments, {"axes": SPATIAL})
    with pytest.raises(hetero.HeteroError, match="without elements"):
        core.compile_model(Model([node], parameters), device)


COORDINATES = ["half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel", "tf_half_pixel_for_nn"]


LONG_MODES = ["linear", "linear_onnx", "cubic", "Resize linear", "Resize cubic", "Resize excluding"]


@pytest.mark.parametrize("dtype", ["f32", "u8"])
@pytest.mark.parametrize("coordinates", COORDINATES)
@pytest.mark.parametrize("mode", LONG_MODES)
def test_weights_that_the_kernel_computes(device, monkeypatch, mode, coordinates, dtype):
    """As if the tables of weights were too large. Expected: the reference, with tables."""
    monkeypatch.setattr(interpolation, "_needs_large_table", lambda *_: True)
    data = image((2, 3, 7, 5), hetero.Type(dtype).to_dtype()).array
    parameter = Parameter(hetero.Type(dtype), data.shape)
    for axes, sizes in (((3,), (90,)), ((1, 2), (9, 3))):
        settings = {"shape_calculation_mode": "sizes", "coordinate_transformation_mode": coordinates}
        if mode.startswith("Resize"):
            settings |= {"mode": "linear" if mode.endswith("linear") else "cubic", "axes": axes}
            node = ops.Resize(parameter, np.array(sizes), **settings, exclude_outside=mode.endswith("excluding"))
        else:
            node = ops.Interpolate(parameter, np.array(sizes), mode=mode, axes=np.array(axes), **settings)
        model = Model(node, [parameter])
        found, expected = (core.compile_model(model, name)([data])[0] for name in (device, "TEMPLATE"))
        tolerance = 1 if dtype == "u8" else WEIGHTS
        np.testing.assert_allclose(found.astype(float), expected.astype(float), atol=tolerance)


def test_a_long_axis_takes_little_more_memory_than_its_result(device):
    size, x = 2 * 10**7, np.float32([[[[1, 2, 3, 4], [5, 6, 7, 8]]]])
    parameter, target = Parameter(hetero.Type.f32, x.shape), Parameter(hetero.Type.i64, [1])
    node = ops.Interpolate(parameter, target, "linear_onnx", "sizes", axes=np.array([3]))
    request = core.compile_model(Model(node, [parameter, target]), device).create_infer_request()
    request.infer([x, np.int64([8])])
    peak_memory.start()
    before = peak_memory.read()
    found = request.infer([x, np.int64([size])], share_outputs=True)[0]
    grown = peak_memory.read() - before
    assert grown < 1.5 * found.nbytes
    np.testing.assert_allclose(found[..., :: size // 4], [[[[1, 1.5, 2.5, 3.5], [5, 5.5, 6.5, 7.5]]]], atol=1e-5)
    # The memory of a result is written again, and left alone once another shape has its own.
    kept = found.copy()
    again = request.infer([x + 1, np.int64([size])], share_outputs=True)[0]
    np.testing.assert_allclose(again[..., ::1000], kept[..., ::1000] + 1, rtol=1e-6)
    assert request.infer([x, np.int64([8])])[0].shape == (1, 1, 2, 8)
