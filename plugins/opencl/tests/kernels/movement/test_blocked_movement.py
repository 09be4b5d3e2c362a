"""Interpolation and padding in blocks of channels, compared with OpenVINO."""

import numpy as np
import pytest
from hetero_opencl.kernels.images.interpolation import BlockedInterpolation
from hetero_opencl.kernels.movement.blocked_movement import BlockedPad

from hetero import Core, Model, Parameter, Type, ops
from tests.ops.oracle import Data

GENERATOR = np.random.default_rng(0)
# Weights of interpolation are computed in f32, from coordinates up to the length of the image; f16 results are rounded.
TOLERANCES = {np.float32: 1e-4, np.float16: 4e-3}


@pytest.fixture(autouse=True, params=[None])
def processor(force):
    """Only with kernels for CPU-like devices, and in blocks wherever that is possible."""
    force(BlockedInterpolation, BlockedPad)


def image(channels, kind=np.float32):
    return Data(GENERATOR.standard_normal((2, channels, 7, 5)).astype(kind))


@pytest.mark.parametrize("kind", TOLERANCES)
@pytest.mark.parametrize("mode", ["nearest", "linear", "linear_onnx", "cubic", "bilinear_pillow"])
@pytest.mark.parametrize("sizes", [(14, 10), (3, 40), (7, 11)])
def test_interpolation(openvino_agrees, mode, sizes, kind):
    arguments = (image(19, kind), np.array(sizes), mode, "sizes")
    openvino_agrees("interpolate", *arguments, axes=np.array([2, 3]), tolerance=TOLERANCES[kind])


def test_interpolation_of_rows_by_scales(openvino_agrees):
    arguments = (image(40), np.array([0.3], np.float32), "linear", "scales")
    openvino_agrees("interpolate", *arguments, axes=np.array([2]), tolerance=1e-4)


@pytest.mark.parametrize("kind", TOLERANCES)
@pytest.mark.parametrize("channels", [2, 16, 19, 24])
@pytest.mark.parametrize(
    ("begins", "ends"),
    [
        ((0, 0, 0, 0), (0, 5, 0, 0)),
        ((0, 0, 0, 0), (0, 40, 0, 0)),
        ((0, 0, 2, 0), (0, 0, 1, 3)),
        ((0, 0, 1, 1), (0, 9, 0, 0)),
    ],
)
def test_padding(openvino_agrees, channels, begins, ends, kind):
    openvino_agrees("pad", image(channels, kind), np.array(begins), np.array(ends), "constant", kind(-1.5))


def test_both_run_between_other_operations_in_blocks(device):
    x = Parameter(Type.f32, [1, 3, 20, 20])
    filters = np.ones((24, 3, 3, 3), np.float32)
    wide = ops.Convolution(x, filters, [1, 1], [1, 1], [1, 1], [1, 1])
    padded = ops.Pad(wide, np.int64([0, 0, 0, 0]), np.int64([0, 8, 0, 0]), "constant", np.float32(0))
    larger = ops.Interpolate(padded, np.int64([40, 40]), "linear_onnx", "sizes", axes=np.int64([2, 3]))
    pooled = ops.AvgPool(larger, [2, 2], [0, 0], [0, 0], [2, 2], True)
    compiled = Core().compile_model(Model(pooled, [x]), device)
    kernels = [launch.kernel for program in compiled._compiled.last_programs() for launch in program.launches]
    assert kernels[1:3] == ["blocked_pad", "blocked_interpolation"] and "blocks_to_rows" not in kernels[:3]
