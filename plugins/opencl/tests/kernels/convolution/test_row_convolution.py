"""RowConvolution for all convolutions that it can run, compared with OpenVINO and numpy."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hetero_opencl.compile import lower_model
from hetero_opencl.device.device import present_devices
from hetero_opencl.kernels import implementations_of
from hetero_opencl.kernels.convolution import row_convolution
from hetero_opencl.kernels.convolution.row_convolution import RowConvolution
from hetero_opencl.lowering.implementation import KernelOperation, candidates_of
from hetero_opencl.profiles.profile import Family

from hetero import Constant, Parameter, Type, ops
from tests.ops.oracle import Data

GENERATOR = np.random.default_rng(0)
IMPLEMENTATION = RowConvolution()
# Image, filters, strides, pads_begin, pads_end, dilations.
DENSE = {
    "one column": ((1, 5, 9, 11), (3, 5, 1, 1), [1, 1], [0, 0], [0, 0], [1, 1]),
    "one column, rows apart": ((2, 3, 9, 35), (2, 3, 3, 1), [2, 1], [1, 0], [1, 0], [1, 1]),
    "one column, padded": ((1, 3, 5, 17), (2, 3, 1, 1), [1, 1], [0, 2], [0, 1], [1, 1]),
    "one column, stride": ((1, 3, 6, 37), (4, 3, 1, 1), [2, 2], [0, 0], [0, 0], [1, 1]),
    "wide kernel": ((1, 2, 7, 70), (8, 2, 3, 39), [1, 1], [1, 19], [1, 19], [1, 1]),
    "several tiles": ((2, 3, 9, 100), (13, 3, 3, 3), [1, 1], [1, 1], [1, 1], [1, 1]),
    "stride 2": ((2, 3, 10, 101), (5, 3, 3, 4), [2, 2], [1, 1], [1, 2], [1, 1]),
    "stride 2, dilation": ((1, 3, 10, 41), (5, 3, 3, 3), [2, 2], [2, 3], [1, 2], [1, 3]),
    "stride 3": ((1, 2, 11, 100), (3, 2, 5, 5), [3, 3], [2, 2], [2, 2], [1, 1]),
    "stride beyond the kernel": ((1, 2, 11, 90), (3, 2, 2, 2), [4, 5], [0, 1], [1, 1], [1, 1]),
    "dilations": ((1, 4, 12, 40), (6, 4, 3, 3), [1, 1], [2, 4], [2, 4], [2, 4]),
    "image within the padding": ((1, 2, 3, 3), (2, 2, 3, 3), [1, 1], [20, 20], [20, 20], [1, 1]),
    "a row": ((1, 1, 1, 300), (1, 1, 1, 64), [1, 2], [0, 0], [0, 0], [1, 1]),
    "a column": ((2, 3, 50, 1), (4, 3, 3, 1), [2, 1], [1, 0], [1, 0], [1, 1]),
    "a column, kernel beside it": ((1, 3, 50, 1), (4, 3, 5, 3), [1, 1], [2, 1], [2, 1], [1, 1]),
    "one dimension": ((3, 4, 37), (6, 4, 5), [2], [1], [2], [2]),
}
GROUPED = {
    "depthwise": ((2, 6, 9, 21), (6, 1, 1, 3, 3), [1, 1], [1, 1], [1, 1], [1, 1]),
    "depthwise, stride 2": ((1, 6, 14, 14), (6, 1, 1, 5, 5), [2, 2], [2, 2], [2, 2], [1, 1]),
    "several outputs per channel": ((1, 3, 7, 7), (3, 2, 1, 3, 3), [1, 1], [1, 1], [1, 1], [1, 1]),
    "groups": ((2, 6, 8, 40), (2, 5, 3, 3, 3), [1, 2], [1, 1], [1, 1], [1, 1]),
}


def numbers(*shape):
    return GENERATOR.standard_normal(shape).astype(np.float32)


@pytest.fixture(autouse=True)
def forced(monkeypatch):
    """Let RowConvolution run all convolutions, on any device; with shorter vectors it takes fewer output channels."""
    original = lower_model.implementations_of
    anchors = (ops.Convolution, ops.GroupConvolution)
    monkeypatch.setattr(
        lower_model, "implementations_of", lambda node: [IMPLEMENTATION] if type(node) in anchors else original(node)
    )
    for device in present_devices().usable:
        monkeypatch.setattr(device, "profile", replace(device.profile, family=Family.PROCESSOR, vector_width=16))


@pytest.fixture(params=[None, (1, 4, 2), (3, 2, 1)], ids=["chosen", "1x4x2", "3x2x1"])
def tile(request, monkeypatch):
    """Let the implementation choose a tile, or take the largest one up to these channels, rows and vectors."""
    if request.param:
        channels, rows, vectors = request.param
        monkeypatch.setattr(row_convolution, "_CHANNELS", range(1, channels + 1))
        monkeypatch.setattr(row_convolution, "_ROWS", range(1, rows + 1))
        monkeypatch.setattr(row_convolution, "_VECTORS", vectors)
        original = RowConvolution.configurations
        monkeypatch.setattr(RowConvolution, "configurations", lambda *arguments: [*original(*arguments)][-1:])


@pytest.mark.parametrize("case", DENSE)
def test_dense(openvino_agrees, tile, case):
    image, filters, *attributes = DENSE[case]
    openvino_agrees("convolution", Data(numbers(*image)), numbers(*filters), *attributes)


@pytest.mark.parametrize("case", GROUPED)
def test_grouped(openvino_agrees, tile, case):
    image, filters, *attributes = GROUPED[case]
    openvino_agrees("group_convolution", Data(numbers(*image)), numbers(*filters), *attributes)


@pytest.mark.parametrize("kind", ["f32", "f16", "bf16"])
def test_epilogue_of_a_tile_that_is_not_filled(template_agrees, kind):
    element = Type(kind)
    shapes = (2, 3, 9, 21), (5, 3, 3, 3), (1, 5, 1, 1), (2, 5, 9, 21)
    x, filters, bias, residual = (numbers(*shape).astype(element.to_dtype()) for shape in shapes)
    data, added = Parameter(element, x.shape), Parameter(element, residual.shape)
    convolution = ops.Convolution(data, Constant(filters), [1, 1], [1, 1], [1, 1], [1, 1])
    result = ops.Relu(ops.Add(ops.Add(convolution, Constant(bias)), added))
    # TEMPLATE rounds the sums of the convolution and of the bias, of about 10, to the type; the kernel does not. Each
    # rounding is off by up to 2^-12 (f16) or 2^-9 (bf16) of a number, and twice that where results have cancelled.
    tolerance = {"f32": 1e-5, "f16": 4 * 10 * 2**-12, "bf16": 4 * 10 * 2**-9}[kind]
    template_agrees(result, [data, added], [x, residual], tolerance)


@pytest.mark.parametrize(
    ("image", "filters", "expected"),
    [
        ((1, 8, 172, 264), (1, 8, 5, 5), "RowConvolution"),
        ((1, 1, 1, 44098), (1, 1, 1, 256), "RowConvolution"),
        ((1, 64, 224, 224), (3, 64, 3, 3), "RowConvolution"),
        ((1, 64, 56, 56), (64, 64, 3, 3), "BlockedConvolution"),
        ((1, 256, 14, 14), (256, 256, 3, 3), "BlockedConvolution"),
    ],
)
def test_choice_by_the_number_of_output_channels(image, filters, expected):
    profile = replace(
        present_devices().usable[0].profile, family=Family.PROCESSOR, vector_width=16, vector_registers=32,
        flops_per_second=3e11, bytes_per_second=2e10, launch_seconds=5e-6,
    )  # fmt: skip
    pads = [filters[2] // 2, 0]
    data, constant = Parameter(Type.f32, image), Constant(np.zeros(filters, np.float32))
    operation = KernelOperation(ops.Convolution(data, constant, [1, 1], pads, pads, [1, 1]))
    candidates = itertools.chain(*candidates_of(operation, implementations_of(operation.main), profile))
    assert min(candidates, key=lambda choice: choice.seconds).implementation.name == expected
