"""Matrix products (gemm) with a constant right matrix of integers with scales, which stay compressed on the device."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from functools import partial
from typing import ClassVar, NamedTuple

import numpy as np

from hetero import ops
from hetero.core.compressed import PackedArray, ScaledBlocks
from hetero.core.types import Type
from hetero.graph import Constant, Node
from hetero_opencl.kernels.common.definition import implements, source
from hetero_opencl.kernels.common.sharing import power_of_two
from hetero_opencl.kernels.elementwise.epilogue import make_epilogue
from hetero_opencl.lowering.implementation import Configuration, Implementation, KernelOperation, Signature
from hetero_opencl.lowering.lowering import Lowering
from hetero_opencl.profiles.profile import DeviceProfile, Family

_WIDTH, _WORD_BITS = 16, 32
_FLOATS = {Type.f32, Type.f16, Type.bf16}
# The most codes of a column that are summed before they are scaled.
_STEP = 128
# Vector operations that decode a vector of codes: shift, mask and conversion.
_DECODING = 3
# Sums of this many registers hide the latency of one addition on processors.
_IN_FLIGHT = 8
# On GPUs: work-items of a group along the columns, the most of them that share a column, and the work-items per compute
# unit that keep the device busy.
_LANES, _MOST_PARTS, _BUSY = 64, 4, 512


def compressed_weights(matmul: Node) -> ScaledBlocks | None:
    """Return the right matrix of a product if it is a Constant of ScaledBlocks that the kernels read, else None."""
    if type(matmul) is not ops.MatMul or matmul.transpose_a:
        return None
    matrix = matmul.input_value(1).node
    blocks = matrix.contents if isinstance(matrix, Constant) else None
    if not isinstance(blocks, ScaledBlocks) or blocks.is_transposed == matmul.transpose_b:
        return None
    codes_of_word = _WORD_BITS // blocks.code_type.bitwidth
    return blocks if not blocks.block % codes_of_word and matmul.get_element_type() in _FLOATS else None


class _CompressedGemm(Implementation):
    """What the implementations for processors and for GPUs have in common."""

    #: The kernel, which has a file of that name, and the number of results that its epilogue takes at once.
    kernel: ClassVar[str]
    width: ClassVar[int]

    @abstractmethod
    def sizes(self, panels: int, tiles: int, configuration: Configuration) -> tuple[Sequence[int], Sequence[int]]:
        """Return the global and the local size for panels of columns and tiles of rows."""

    def mismatch(self, operation: KernelOperation, profile: DeviceProfile) -> str | None:
        if compressed_weights(operation.main) is None or operation.prologue:
            return "its right matrix is no constant of integers with scales in blocks of whole words"
        return None if operation.source(0).element_type in _FLOATS else "its left matrix has other elements than floats"

    def emit(
        self, lowering: Lowering, operation: KernelOperation, signature: Signature, configuration: Configuration
    ) -> None:
        blocks = compressed_weights(operation.main)
        assert blocks is not None
        a, result = operation.source(0), operation.result
        size = _size(operation)
        epilogue = make_epilogue(lowering, operation, self.width, in_channels=True)
        vectors, bits = configuration["VECTORS"], blocks.code_type.bitwidth
        zero_point = _zero_points(blocks)
        macros = {
            "WIDEN_RESULT(x)": "(x)", "BITS": bits, "CODES": _WORD_BITS // bits, "MASK": f"{(1 << bits) - 1}u",
            "PANEL": _WIDTH * vectors, "BLOCK": blocks.block, "STEP": _step(blocks), "ZERO_POINTS": 1, **configuration,
        }  # fmt: skip
        if not isinstance(zero_point, np.ndarray):
            macros |= {"ZERO_POINTS": 0, "ZERO_POINT": f"{zero_point:.9e}f"}
        types = {
            "A": a.element_type,
            "SCALE": Type(blocks.scale.dtype),
            "ZERO": Type(zero_point.dtype) if isinstance(zero_point, np.ndarray) else Type.u8,
            **dict.fromkeys(("C", "RESULT"), result.element_type),
        }
        text = source(self.kernel, types, epilogue.text, **macros)
        codes = blocks.codes.content if isinstance(blocks.codes, PackedArray) else blocks.codes
        words = lowering.constant(
            codes, ("words in panels", blocks.code_type, *blocks.codes.shape, vectors), partial(_words, blocks, vectors)
        )
        in_panels = partial(_in_panels, rows=size.columns, vectors=vectors)
        layout = ("scales in panels", size.columns, vectors)
        scales = lowering.constant(blocks.scale, layout, in_panels)
        zeros = lowering.constant(zero_point, layout, in_panels) if isinstance(zero_point, np.ndarray) else scales
        arguments = [a, words, scales, zeros, result, size.rows, size.columns, size.depth, *epilogue.arguments]
        panels = -(-size.columns // (_WIDTH * vectors))
        tiles = -(-size.rows // configuration["ROWS"])
        lowering.launch(text, self.kernel, arguments, *self.sizes(panels, tiles, configuration))


@implements(ops.MatMul)
class CompressedGemm(_CompressedGemm):
    """Each work-item computes a tile of rows by vectors of 16 columns in registers, and decodes codes once a tile."""

    family = Family.PROCESSOR
    kernel, width = "compressed_gemm", _WIDTH

    def sizes(self, panels: int, tiles: int, configuration: Configuration) -> tuple[Sequence[int], Sequence[int]]:
        return [tiles, panels, 1], [1, 1, 1]

    def configurations(
        self, operation: KernelOperation, signature: Signature, profile: DeviceProfile
    ) -> Iterable[Configuration]:
        # The number of vectors depends on constants alone: programs for other numbers of rows share the panels.
        registers = -(-_WIDTH // profile.vector_width)
        panels = -(-_size(operation).columns // _WIDTH)
        vectors = next(n for n in (4, 2, 1) if n * registers <= 4 and (n == 1 or panels // n >= profile.compute_units))
        return ({"ROWS": rows, "VECTORS": vectors} for rows in (1, 2, 4))

    def estimate(
        self, operation: KernelOperation, signature: Signature, configuration: Configuration, profile: DeviceProfile
    ) -> float:
        size, rows, vectors = _size(operation), configuration["ROWS"], configuration["VECTORS"]
        registers = vectors * -(-_WIDTH // profile.vector_width)
        step = max(registers * (_DECODING + rows), _IN_FLIGHT) + 2 * rows
        tiles = -(-size.rows // rows) * -(-size.columns // (_WIDTH * vectors))
        seconds_of_operation = profile.vector_width * profile.compute_units / profile.flops_per_second
        computing = -(-tiles // profile.compute_units) * size.depth * step * seconds_of_operation
        return max(computing, _seconds_of_reading(operation, profile)) + profile.launch_seconds


@implements(ops.MatMul)
class SharedCompressedGemm(_CompressedGemm):
    """Work-items of a group share the columns of a panel, and read neighboring words."""

    family = Family.GPU
    kernel, width = "shared_compressed_gemm", 1

    def sizes(self, panels: int, tiles: int, configuration: Configuration) -> tuple[Sequence[int], Sequence[int]]:
        parts = configuration["PARTS"]
        return [panels * _WIDTH * configuration["VECTORS"], parts, tiles], [_LANES, parts, 1]

    def configurations(
        self, operation: KernelOperation, signature: Signature, profile: DeviceProfile
    ) -> Iterable[Configuration]:
        blocks = compressed_weights(operation.main)
        assert blocks is not None
        size, most = _size(operation), profile.largest_group(_LANES * _MOST_PARTS, 4 * 4) // _LANES
        wanted = -(-_BUSY * profile.compute_units // size.columns)
        parts = min(most, power_of_two(wanted), power_of_two(size.depth // _step(blocks)))
        return ({"ROWS": rows, "VECTORS": _LANES // _WIDTH, "PARTS": parts, "LANES": _LANES} for rows in (1, 2, 4))

    def estimate(
        self, operation: KernelOperation, signature: Signature, configuration: Configuration, profile: DeviceProfile
    ) -> float:
        size, rows = _size(operation), configuration["ROWS"]
        tiles = -(-size.rows // rows)
        computing = 2 * tiles * (_DECODING + rows) * size.columns * size.depth / profile.flops_per_second
        reading = tiles * _seconds_of_reading(operation, profile)
        return max(computing, reading) + profile.launch_seconds


class _Size(NamedTuple):
    rows: int
    columns: int
    depth: int


def _size(operation: KernelOperation) -> _Size:
    blocks = compressed_weights(operation.main)
    assert blocks is not None
    return _Size(math.prod(operation.source(0).shape[:-1]), *blocks.codes.shape)


def _seconds_of_reading(operation: KernelOperation, profile: DeviceProfile) -> float:
    blocks = compressed_weights(operation.main)
    assert blocks is not None
    return blocks.byte_size / profile.bytes_per_second


def _step(blocks: ScaledBlocks) -> int:
    """Return the largest divisor of the length of a block, in whole words, of at most _STEP codes."""
    word = _WORD_BITS // blocks.code_type.bitwidth
    words = blocks.block // word
    return word * max(n for n in range(1, _STEP // word + 1) if not words % n)


def _sign_bit(kind: Type) -> int:
    """Return what is added to codes, so that they have no sign."""
    return 1 << kind.bitwidth - 1 if kind.is_signed() else 0


def _zero_points(blocks: ScaledBlocks) -> np.ndarray | float:
    """Return the zero points of codes without a sign: one number, or an array of u8 or f32 as ``blocks`` has them."""
    sign, zero_point = _sign_bit(blocks.code_type), blocks.zero_point
    if zero_point is None:
        return float(sign)
    shifted = zero_point.astype(np.float32) + sign
    if shifted.size and (shifted == shifted.flat[0]).all():
        return float(shifted.flat[0])
    narrow = shifted.astype(np.uint8)
    return narrow if (narrow == shifted).all() else shifted


def _words(blocks: ScaledBlocks, vectors: int, codes: np.ndarray) -> np.ndarray:
    """Return codes ``[columns, depth]`` as words of 32 bits ``[panels, depth / codes of a word, 16 * vectors]``."""
    columns, depth = blocks.codes.shape
    bits = blocks.code_type.bitwidth
    words = np.ascontiguousarray(codes).reshape(-1).view(np.uint32).reshape(columns, depth * bits // _WORD_BITS)
    panels = _in_panels(words, columns, vectors)
    if sign := _sign_bit(blocks.code_type):
        panels ^= np.uint32(sum(sign << shift for shift in range(0, _WORD_BITS, bits)))
    return panels


def _in_panels(array: np.ndarray, rows: int, vectors: int) -> np.ndarray:
    """Return ``[rows or 1, count]`` as a new array ``[panels, count, 16 * vectors]``, padded with zeros."""
    count, width = array.shape[1], _WIDTH * vectors
    whole, rest = divmod(rows, width)
    array = np.broadcast_to(array, (rows, count))
    panels = np.zeros((whole + (rest > 0), count, width), array.dtype)
    panels[:whole] = array[: whole * width].reshape(whole, width, count).swapaxes(1, 2)
    if rest:
        panels[whole, :, :rest] = array[whole * width :].T
    return panels
