"""Tiles of the gemm for CPU-like devices, packed_gemm.cl: their estimated time, and the packing of constants."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np

# Elements of a float16, the vectors of the kernel. On processors with shorter ones it takes several registers.
_WIDTH = 16
# A processor starts two vector operations and two loads per cycle, and an operation takes 4 cycles. So sums of at least
# this many registers keep it busy.
_IN_FLIGHT = 8
# Operations in the time in which a vector of b arrives from the second-level cache.
_OF_A_LINE = 2.6
# More pointers to rows than this are loaded from the stack for each step along the depth.
_ROW_POINTERS = 8
_MAX_ROWS, _MAX_VECTORS = 12, 4
# Vector operations in the time that a tile takes besides its sums, and per stored vector.
_OF_A_TILE, _OF_A_VECTOR = 100, 10
# Rows of b that are a multiple of this many bytes apart share a few sets of the first-level cache.
_PAGE = 4096


class Processor(Protocol):
    """The fields of a device profile that the estimate reads. Rates are those of all compute units together."""

    @property
    def vector_width(self) -> int: ...  # f32 in a register
    @property
    def vector_registers(self) -> int: ...
    @property
    def compute_units(self) -> int: ...
    @property
    def flops_per_second(self) -> float: ...
    @property
    def bytes_per_second(self) -> float: ...


class Tile(NamedTuple):
    """What a work-item computes: ``rows`` by ``vectors`` of 16 columns."""

    rows: int
    vectors: int


class Gemm(NamedTuple):
    """Size of a batched product. ``weight_size`` is the number of bytes of an element of b."""

    rows: int
    columns: int
    depth: int
    batches: int = 1
    weight_size: int = 4


def tiles(processor: Processor) -> list[Tile]:
    """Return the tiles whose sums, with a row of b and an element of a, fit the registers."""
    registers = -(-_WIDTH // processor.vector_width)
    fitting = [
        Tile(rows, vectors)
        for vectors in range(1, _MAX_VECTORS + 1)
        for rows in range(1, _MAX_ROWS + 1)
        if (rows + 1) * vectors * registers < processor.vector_registers
    ]
    return fitting or [Tile(1, 1)]


def choose_tile(gemm: Gemm, processor: Processor, vectors: int | None = None) -> Tile:
    """Return the fastest tile by the estimate; ``vectors`` is that of the packed constant if there is one already."""
    candidates = [tile for tile in tiles(processor) if vectors in (None, tile.vectors)]
    return min(candidates, key=lambda tile: estimate(gemm, tile, processor))


def estimate(gemm: Gemm, tile: Tile, processor: Processor) -> float:
    """Return the estimated seconds of the kernel.

    A step along the depth takes as long as its multiplications, its loads or the latency of one multiplication. The
    compute units take turns at the tiles. b is read from memory once, nearly all of it during the computation.
    """
    registers = -(-_WIDTH // processor.vector_width)
    operations = tile.rows * tile.vectors * registers
    loads = tile.rows + tile.vectors * registers + max(0, tile.rows - _ROW_POINTERS)
    step = max(operations, loads, _IN_FLIGHT, _OF_A_LINE * tile.vectors) + 1
    of_tile = gemm.depth * step + _OF_A_TILE + _OF_A_VECTOR * operations
    count = -(-gemm.rows // tile.rows) * -(-gemm.columns // (_WIDTH * tile.vectors)) * gemm.batches
    turns = -(-count // processor.compute_units)
    seconds_of_operation = 2 * processor.vector_width * processor.compute_units / processor.flops_per_second
    computing = turns * of_tile * seconds_of_operation
    reading = gemm.columns * gemm.depth * gemm.batches * gemm.weight_size / processor.bytes_per_second
    return max(computing, reading) + min(computing, reading) / 10


def needs_packing(columns: int, element_size: int) -> bool:
    """Return whether a product of two activations is faster if b is packed first, although that takes a launch."""
    return columns * element_size % _PAGE == 0


def panel_strides(vectors: int, columns: int, depth: int, is_packed: bool) -> tuple[int, int]:
    """Return the kernel's ``b_panel`` and ``b_row``: elements from panel to panel, and from row to row of a panel."""
    width = _WIDTH * vectors
    return (depth * width, width) if is_packed else (width, columns)


def global_size(gemm: Gemm, tile: Tile) -> Sequence[int]:
    return [-(-gemm.rows // tile.rows), -(-gemm.columns // (_WIDTH * tile.vectors)), gemm.batches]


def pack_columns(array: np.ndarray, vectors: int) -> np.ndarray:
    """Return matrices [..., depth, columns] as panels [..., panels, depth, 16 * vectors], padded with zeros."""
    *batch, depth, columns = array.shape
    width = _WIDTH * vectors
    panels = -(-columns // width)
    packed = np.zeros((*batch, panels, depth, width), array.dtype)
    for panel in range(panels):
        part = array[..., panel * width : (panel + 1) * width]
        packed[..., panel, :, : part.shape[-1]] = part
    return packed
