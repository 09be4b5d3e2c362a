"""Matrix products (gemm) for CPU-like devices, with the right matrix in panels if it is constant."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.graph import constant_array, is_constant
from hetero_opencl.device.launch import Buffer
from hetero_opencl.kernels.common.definition import implements, source
from hetero_opencl.kernels.elementwise.epilogue import make_epilogue
from hetero_opencl.kernels.linear.compressed_gemm import compressed_weights
from hetero_opencl.lowering.implementation import Configuration, Implementation, KernelOperation, Signature
from hetero_opencl.lowering.lowering import Lowering
from hetero_opencl.profiles.profile import DeviceProfile, Family

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
# The rows for which panels are chosen if the number differs.
_MANY_ROWS = 131
# Vector operations in the time that a tile takes besides its sums, and per stored vector.
_OF_A_TILE, _OF_A_VECTOR = 100, 10
# Rows of b that are a multiple of this many bytes apart share a few sets of the first-level cache.
_PAGE = 4096


@implements(ops.MatMul)
class PackedGemm(Implementation):
    """Each work-item computes a tile of rows by vectors of 16 columns in registers."""

    family = Family.PROCESSOR

    def mismatch(self, operation: KernelOperation, profile: DeviceProfile) -> str | None:
        matmul, (a, b) = operation.main, (operation.source(0), operation.source(1))
        if profile.vector_width < 4:
            return "the device has no vectors"
        if {a.element_type, b.element_type} - {Type.f32, Type.f16, Type.bf16} or operation.prologue:
            return f"it computes in f32, not in {a.element_type}"
        if len(a.shape) < 2 or len(b.shape) < 2 or matmul.transpose_a or not math.prod((*a.shape, *b.shape)):
            return "its inputs are matrices in rows"
        if compressed_weights(matmul) is not None:
            return "its right matrix is compressed"
        if math.prod(b.shape[:-2]) > 1 and (is_constant(b) or a.shape[:-2] != b.shape[:-2]):
            return "all matrices of the batch have the right matrix in common, or each has its own computed one"
        return None

    def configurations(
        self, operation: KernelOperation, signature: Signature, profile: DeviceProfile
    ) -> Iterable[Configuration]:
        found = tiles(profile)
        gemm = _gemm(operation)
        if operation.is_of_lengths and is_constant(operation.source(1)):
            # Programs for other numbers of rows share the panels of weights.
            best = min(found, key=lambda tile: estimate_gemm(gemm._replace(rows=_MANY_ROWS), tile, profile))
            found = [tile for tile in found if tile.vectors == best.vectors]
        return ({"ROWS": tile.rows, "VECTORS": tile.vectors} for tile in found)

    def estimate(
        self, operation: KernelOperation, signature: Signature, configuration: Configuration, profile: DeviceProfile
    ) -> float:
        tile = GemmTile(configuration["ROWS"], configuration["VECTORS"])
        return estimate_gemm(_gemm(operation), tile, profile) + profile.launch_seconds

    def emit(
        self, lowering: Lowering, operation: KernelOperation, signature: Signature, configuration: Configuration
    ) -> None:
        a, b, gemm = operation.source(0), operation.source(1), _gemm(operation)
        tile = GemmTile(configuration["ROWS"], configuration["VECTORS"])
        epilogue = make_epilogue(lowering, operation, _WIDTH, in_channels=True)
        types = {
            "A": a.element_type,
            "B": b.element_type,
            **dict.fromkeys(("C", "RESULT"), operation.result.element_type),
        }
        macros = {"WIDEN_RESULT(x)": "(x)", **configuration}
        text = source("packed_gemm", types, epilogue.text, **macros)
        right, is_packed = _right_matrices(lowering, operation, gemm, tile, text)
        panel, row = panel_strides(tile.vectors, gemm.columns, gemm.depth, is_packed)
        b_stride = -(-gemm.columns // (_WIDTH * tile.vectors)) * panel if is_packed else gemm.depth * gemm.columns
        numbers = [
            gemm.rows, gemm.columns, gemm.depth, gemm.depth, panel, row,
            gemm.batches, 0, gemm.rows * gemm.depth, 0, b_stride, 0, 0, 0,
        ]  # fmt: skip
        arguments = [a, right, operation.result, *numbers, *epilogue.arguments]
        lowering.launch(text, "packed_gemm", arguments, global_size(gemm, tile), [1, 1, 1])


def _right_matrices(
    lowering: Lowering, operation: KernelOperation, gemm: Gemm, tile: GemmTile, text: str
) -> tuple[Buffer, bool]:
    """Return the right matrices, and whether they are in panels; ``text`` has the kernel that packs computed ones."""
    b, matmul = operation.source(1), operation.main
    is_transposed = matmul.transpose_b
    array = constant_array(b)
    if array is not None:
        matrix = array.reshape(array.shape[-2:])
        arrange = partial(pack_columns, vectors=tile.vectors)
        return lowering.constant(matrix.T if is_transposed else matrix, ("panels", tile.vectors), arrange), True
    if not is_transposed and not needs_packing(gemm.columns, b.element_type.size):
        return lowering.buffer(b), False
    width = _WIDTH * tile.vectors
    panels = lowering.scratch(gemm.batches * -(-gemm.columns // width) * width * gemm.depth, b.element_type.size)
    strides = (1, gemm.depth) if is_transposed else (gemm.columns, 1)
    numbers = [gemm.columns, gemm.depth, *strides, gemm.batches, 0, gemm.depth * gemm.columns, 0]
    size = [-(-gemm.columns // _WIDTH), -(-gemm.depth // 16), gemm.batches]
    lowering.launch(text, "pack_panels", [b, panels, *numbers], size, [1, 1, 1])
    return panels, True


def _gemm(operation: KernelOperation) -> Gemm:
    """Return the size of the product. Matrices of a batch with one right matrix are the rows of one."""
    a, b, matmul = operation.source(0), operation.source(1), operation.main
    *batch, rows, depth = a.shape
    columns, batches = b.shape[-2 if matmul.transpose_b else -1], math.prod(b.shape[:-2])
    return Gemm(math.prod(batch) // batches * rows, columns, depth, batches, b.element_type.size)


class GemmTile(NamedTuple):
    """The results of a work-item: ``rows`` by ``vectors`` of 16 columns."""

    rows: int
    vectors: int


class Gemm(NamedTuple):
    """Size of a batched product. ``weight_size`` is the number of bytes of an element of b."""

    rows: int
    columns: int
    depth: int
    batches: int = 1
    weight_size: int = 4


def tiles(profile: DeviceProfile) -> list[GemmTile]:
    """Return the tiles whose sums, with a row of b and an element of a, fit the registers."""
    registers = -(-_WIDTH // profile.vector_width)
    fitting = [
        GemmTile(rows, vectors)
        for vectors in range(1, _MAX_VECTORS + 1)
        for rows in range(1, _MAX_ROWS + 1)
        if (rows + 1) * vectors * registers < profile.vector_registers
    ]
    return fitting or [GemmTile(1, 1)]


def estimate_gemm(gemm: Gemm, tile: GemmTile, profile: DeviceProfile) -> float:
    """Return the estimated seconds of the kernel.

    A step along the depth takes as long as its multiplications, its loads or the latency of one multiplication. The
    compute units take turns at the tiles. b is read from memory once, nearly all of it during the computation.
    """
    registers = -(-_WIDTH // profile.vector_width)
    operations = tile.rows * tile.vectors * registers
    loads = tile.rows + tile.vectors * registers + max(0, tile.rows - _ROW_POINTERS)
    step = max(operations, loads, _IN_FLIGHT, _OF_A_LINE * tile.vectors) + 1
    of_tile = gemm.depth * step + _OF_A_TILE + _OF_A_VECTOR * operations
    count = -(-gemm.rows // tile.rows) * -(-gemm.columns // (_WIDTH * tile.vectors)) * gemm.batches
    turns = -(-count // profile.compute_units)
    seconds_of_operation = 2 * profile.vector_width * profile.compute_units / profile.flops_per_second
    computing = turns * of_tile * seconds_of_operation
    reading = gemm.columns * gemm.depth * gemm.batches * gemm.weight_size / profile.bytes_per_second
    return max(computing, reading) + min(computing, reading) / 10


def needs_packing(columns: int, element_size: int) -> bool:
    """Return whether a product of two activations is faster if b is packed first, although that takes a launch."""
    return columns * element_size % _PAGE == 0


def panel_strides(vectors: int, columns: int, depth: int, is_packed: bool) -> tuple[int, int]:
    """Return the kernel's ``b_panel`` and ``b_row``: elements from panel to panel, and from row to row of a panel."""
    width = _WIDTH * vectors
    return (depth * width, width) if is_packed else (width, columns)


def global_size(gemm: Gemm, tile: GemmTile) -> Sequence[int]:
    return [-(-gemm.rows // tile.rows), -(-gemm.columns // (_WIDTH * tile.vectors)), gemm.batches]


def pack_columns(array: np.ndarray, vectors: int) -> np.ndarray:
    """Return matrices [..., depth, columns] as panels [..., panels, depth, 16 * vectors], padded with zeros."""
    *batch, depth, columns = array.shape
    width = _WIDTH * vectors
    whole, rest = divmod(columns, width)
    packed = np.empty((*batch, whole + (rest > 0), depth, width), array.dtype)
    split = array[..., : whole * width].reshape(*batch, depth, whole, width)
    packed[..., :whole, :, :] = np.moveaxis(split, -2, -3)
    if rest:
        packed[..., whole, :, :rest] = array[..., whole * width :]
        packed[..., whole, :, rest:] = 0
    return packed
