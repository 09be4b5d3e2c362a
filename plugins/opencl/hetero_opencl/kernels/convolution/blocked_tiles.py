"""Tiles and packed filters of blocked_convolution.cl, and what a tile costs.

A tile fills the register file: of 32 registers, 14 positions by 2 vectors or 6 by 4 were the fastest for most layers of
ResNet-50, SqueezeNet and DenseNet, of 16 registers 14 by 1 or 6 by 2. Estimates follow the most capable x86 processors:
two multiply-adds and two loads a cycle. The other constants were fitted to the times of 11 tiles of 22 layers of these
networks with AVX2 on one core of a Sapphire Rapids: estimates are off by 8 % (standard deviation), and the tiles chosen
take 1.9 % longer than the fastest ones on average, 15 % at most.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from hetero.core.lengths.length import least
from hetero_opencl.profiles.profile import DeviceProfile

# Cycles after which the sum of a multiply-add can be used, times 2 multiply-adds a cycle.
_LATENCY = 8
# Bytes of filters that come from the L2 cache in half a cycle (assumed).
_CACHE_BYTES = 16
# Multiply-adds in the time that each vector of filters adds to a step.
_FILTER_SLOTS = 0.5
# Cycles to store a vector of results, and what a tile costs beside its arithmetic.
_STORE_CYCLES = 5
_TILE_CYCLES = 60
# Cycles for each copy of a line, besides one per vector.
_COPY_CYCLES = 4
_LINE = 16
# Layers that take less than this part of the time of a launch are short.
_SHORT = 0.3
_MOST_POSITIONS = 28


class ConvolutionTile(NamedTuple):
    """The outputs of a work-item: ``positions`` along the row (I) by ``vectors`` of output channels (J)."""

    positions: int
    vectors: int


class Layer(NamedTuple):
    """A convolution of channel blocks, as far as its cost depends on it.

    ``rows`` of ``width`` positions are the output of all batches. ``kernel``: its sizes along z, y and x. ``channels``
    and ``blocks``: input channels and output channel blocks of a group. ``in_block``: 1 or the channels of a block.
    ``is_direct``: the input is read without a copy; ``is_point``: and the kernel is one element without padding.
    """

    rows: int
    width: int
    kernel: tuple[int, int, int]
    stride: int
    dilation: int
    channels: int
    in_block: int
    blocks: int
    groups: int
    is_direct: bool
    is_point: bool


def pack_filters(filters: np.ndarray, in_block: int, block: int, vectors: int) -> np.ndarray:
    """Return filters [groups][K][C][kz][ky][kx] in the order in which work-items read them, without axes.

    The order is [groups][K/(vectors * block)][C/in_block][kz][ky][kx][in_block][vectors * block]. The last block of
    input channels may have fewer; K is filled up with zeros.
    """
    groups, outputs, channels, *kernel = filters.shape
    tiles = -(-outputs // (vectors * block))
    packed = np.zeros((groups, tiles * vectors * block, channels, math.prod(kernel)), filters.dtype)
    packed[:, :outputs] = filters.reshape(groups, outputs, channels, -1)
    by_tile = packed.reshape(groups, tiles, vectors * block, channels, -1).transpose(0, 1, 4, 3, 2)
    parts = [by_tile[:, :, :, first : first + in_block] for first in range(0, channels, in_block)]
    return np.concatenate([part.reshape(groups, tiles, -1) for part in parts], axis=2).reshape(-1)


def line_length(tile: ConvolutionTile, stride: int, kernel: int, dilation: int) -> int:
    """Return the positions of the input that a tile needs along the row, rounded up as LINE must be."""
    needed = (tile.positions - 1) * stride + (kernel - 1) * dilation + 1
    return -(-needed // _LINE) * _LINE


def tiles(layer: Layer, profile: DeviceProfile) -> Iterator[ConvolutionTile]:
    """Yield the tiles worth a try: for each number of vectors, the least positions for the least tiles along the row.

    Sums, a vector of filters for each of ``vectors``, and an element of the input must fit in the registers. Layers
    that take about as long as a launch have one of two tiles, because each other one is a program to build.
    """
    steps = layer.channels * math.prod(layer.kernel) * layer.rows * layer.width * layer.groups * layer.blocks
    width = least(layer.width)
    if 2 * steps * profile.vector_width / profile.flops_per_second < _SHORT * profile.launch_seconds:
        yield ConvolutionTile(4 if width >= 4 else 1, 1)
        return
    for vectors in (1, 2, 3, 4, 6, 8):
        most = min((profile.vector_registers - 1) // vectors - 1, width, _MOST_POSITIONS)
        if most >= 1 and (vectors == 1 or vectors <= layer.blocks):
            yield ConvolutionTile(-(-width // -(-width // most)), vectors)


def estimate(layer: Layer, tile: ConvolutionTile, profile: DeviceProfile) -> float:
    """Return the time of a convolution in seconds."""
    positions, vectors = tile
    kernel_z, kernel_y, kernel_x = layer.kernel
    steps = layer.channels * math.prod(layer.kernel)
    from_cache = 4 * vectors * profile.vector_width / _CACHE_BYTES
    # Arithmetic, loads, …
    slots = max(positions * vectors, positions + vectors, _LATENCY, from_cache) + _FILTER_SLOTS * vectors
    cycles: float = steps * slots / 2 + positions * vectors * _STORE_CYCLES + _TILE_CYCLES
    if not layer.is_direct:
        copied = (positions - 1) * layer.stride + (kernel_x - 1) * layer.dilation + 1
        if layer.in_block == 1:
            copied = -(-copied // _LINE)
        cycles += -(-layer.channels // layer.in_block) * kernel_z * kernel_y * (copied + _COPY_CYCLES)
    filter_tiles = layer.groups * -(-layer.blocks // vectors)
    items = -(-layer.width // positions) * layer.rows * filter_tiles
    # Tiles of filters that exceed the cache are read again for each row.
    tile_bytes = 4 * steps * vectors * profile.vector_width
    reads = filter_tiles * (1 if tile_bytes < profile.l2_bytes * 0.75 else layer.rows)
    cycle = 4 * profile.vector_width * profile.compute_units / profile.flops_per_second
    return -(-items // profile.compute_units) * cycles * cycle + reads * tile_bytes / profile.bytes_per_second
