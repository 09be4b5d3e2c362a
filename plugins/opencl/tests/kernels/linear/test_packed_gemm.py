"""The gemm kernels for CPU-like devices, compared with numpy in double precision."""

from typing import NamedTuple

import numpy as np
import pyopencl as cl
import pytest
from hetero_opencl.device.caches import build_uncached
from hetero_opencl.device.device import OpenCLDevice, present_devices
from hetero_opencl.kernels.common.definition import source
from hetero_opencl.kernels.linear import packed_gemm
from hetero_opencl.kernels.linear.packed_gemm import Gemm, GemmTile
from hetero_opencl.lowering.constants import Constants

from hetero import Type

DEVICES = [device for device in present_devices().usable if device.handle.type & cl.device_type.CPU]
KINDS = {"f32": 1e-5, "f16": 2e-3, "bf16": 2e-2}


def choose_tile(gemm, profile):
    return min(packed_gemm.tiles(profile), key=lambda tile: packed_gemm.estimate_gemm(gemm, tile, profile))


@pytest.fixture(params=DEVICES, ids=lambda device: device.handle.platform.name)
def opencl_device(request) -> OpenCLDevice:
    return request.param


def random(*shape, kind=Type.f32, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(kind.to_dtype())


def product(device, left, right, tile, layout="constant", epilogue="", arguments=(), kind=Type.f32):
    """Return left · right, [batch, rows, columns], as the kernel computes it with ``right`` in a layout."""
    (batches, rows, depth), columns = left.shape, right.shape[-1]
    gemm, constants = Gemm(rows, columns, depth, batches), Constants(device.upload)
    text = source("packed_gemm", dict.fromkeys("ABC", kind), epilogue, ROWS=tile.rows, VECTORS=tile.vectors)
    program, queue = build_uncached(cl.Program(device.context, text)), cl.CommandQueue(device.context)
    is_packed = layout != "rows"
    panel, row = packed_gemm.panel_strides(tile.vectors, columns, depth, is_packed)
    packed = packed_gemm.pack_columns(right, tile.vectors)
    b_batch = packed[0].size if is_packed else depth * columns
    if layout in ("packed", "transposed"):
        b = constants.buffer(np.zeros_like(packed))
        given = right.swapaxes(1, 2) if layout == "transposed" else right
        strides = (1, depth) if layout == "transposed" else (columns, 1)
        numbers = [columns, depth, *strides, batches, 0, depth * columns, 0]
        given_buffer = constants.buffer(np.ascontiguousarray(given))
        items = [-(-columns // 16), -(-depth // 16), batches]
        pack = cl.Kernel(program, "pack_panels")
        pack(queue, items, [1, 1, 1], given_buffer.memory, b.memory, *map(np.int32, numbers))
    else:
        b = constants.buffer(packed if is_packed else right)
    a, c = constants.buffer(left), constants.buffer(np.zeros((batches, rows, columns), kind.to_dtype()))
    numbers = [rows, columns, depth, depth, panel, row, batches, 0, rows * depth, 0, b_batch, 0, 0, 0]
    more = [constants.buffer(array) for array in arguments]
    kernel = cl.Kernel(program, "packed_gemm")
    buffers = [one.memory for one in (a, b, c)]
    kernel(
        queue, packed_gemm.global_size(gemm, tile), [1, 1, 1],
        *buffers, *map(np.int32, numbers), *(one.memory for one in more),
    )  # fmt: skip
    result = np.empty((batches, rows, columns), kind.to_dtype())
    cl.enqueue_copy(queue, result, c.memory)
    return result


def check(found, expected, tolerance=1e-5):
    np.testing.assert_allclose(found.astype(np.float64), expected, rtol=0, atol=tolerance * np.abs(expected).max())


def exact(left, right):
    return np.matmul(left.astype(np.float64), right.astype(np.float64))


@pytest.mark.parametrize("layout", ["constant", "rows", "packed", "transposed"])
@pytest.mark.parametrize("size", [(1, 5, 3), (9, 32, 17), (17, 100, 33), (8, 33, 64)], ids=str)
@pytest.mark.parametrize("tile", [GemmTile(1, 2), GemmTile(8, 1), GemmTile(6, 3)], ids=str)
def test_layouts_and_sizes(opencl_device, tile, size, layout):
    rows, columns, depth = size
    left, right = random(2, rows, depth), random(2, depth, columns, seed=1)
    check(product(opencl_device, left, right, tile, layout), exact(left, right))


@pytest.mark.parametrize("kind", KINDS)
def test_element_types(opencl_device, kind):
    left, right = random(1, 9, 50, kind=Type(kind)), random(1, 50, 37, kind=Type(kind), seed=1)
    check(product(opencl_device, left, right, GemmTile(4, 2), kind=Type(kind)), exact(left, right), KINDS[kind])


def test_epilogue_with_bias_and_residual(opencl_device):
    left, right, bias, residual = random(1, 9, 50), random(1, 50, 37, seed=1), random(37), random(9, 37, seed=2)
    epilogue = """\
#define EPILOGUE_PARAMETERS , global const float *bias, global const float *residual
#define EPILOGUE(v, at, column) (fmax((v) + vload16(0, bias + (column)), 0.0f) + vload16(0, residual + (at)))
"""
    found = product(opencl_device, left, right, GemmTile(4, 2), epilogue=epilogue, arguments=(bias, residual))
    check(found, np.maximum(exact(left, right) + bias, 0) + residual)


class Processor(NamedTuple):
    vector_width: int = 16
    vector_registers: int = 32
    compute_units: int = 2
    flops_per_second: float = 3e11
    bytes_per_second: float = 2e10


AVX2 = Processor(8, 16, 4)


@pytest.mark.parametrize("processor", [Processor(), AVX2, Processor(4, 16)], ids=["AVX-512", "AVX2", "SSE"])
def test_tiles_fit_the_registers(processor):
    registers = 16 // processor.vector_width
    found = packed_gemm.tiles(processor)
    assert all((tile.rows * tile.vectors + tile.vectors) * registers < processor.vector_registers for tile in found)


def test_tiles_suit_the_size():
    assert choose_tile(Gemm(1, 768, 768), Processor()).rows == 1
    assert choose_tile(Gemm(5, 768, 768), Processor()).rows == 5
    assert choose_tile(Gemm(128, 16, 768), Processor()).vectors == 1
    assert choose_tile(Gemm(128, 768, 768), AVX2) == (6, 1)
    many = Processor(compute_units=64)
    size = packed_gemm.global_size(gemm := Gemm(16, 512, 512), choose_tile(gemm, many))
    assert size[0] * size[1] >= 64
