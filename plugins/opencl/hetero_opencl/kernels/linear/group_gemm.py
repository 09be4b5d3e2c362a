"""Matrix products on GPUs: tiles in local memory, chosen so that they fill the device, and the depth in parts."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from hetero.core.lengths.length import about, hint_of
from hetero.core.types import Type
from hetero_opencl.kernels.common.definition import OF_8_BYTES, SUMS, ProductTypes, source_of_sums
from hetero_opencl.kernels.elementwise.epilogue import no_epilogue
from hetero_opencl.kernels.linear.product import Product
from hetero_opencl.lowering.lowering import Argument, Lowering
from hetero_opencl.profiles.profile import DeviceProfile

# Columns of the left and rows of the right matrix that are in local memory at once.
STEPS = 16
# What the cost of a tile is computed with: the f32 that a unit multiplies and adds in a cycle, the cycles of a read of
# memory and how many work-groups hide them, and cycles per second. Only the order of tiles by cost counts.
_LANES, _LATENCY, _HIDDEN, _CLOCK = 64, 320, 4, 1.5e9
# A launch with less work-groups per unit leaves units idle.
FULL = 2


class GroupTile(NamedTuple):
    """Work-items of a group along rows and columns, and the results of each."""

    group_rows: int
    group_columns: int
    item_rows: int
    item_columns: int

    @property
    def rows(self) -> int:
        return self.group_rows * self.item_rows

    @property
    def columns(self) -> int:
        return self.group_columns * self.item_columns

    @property
    def items(self) -> int:
        return self.group_rows * self.group_columns


# Larger ones read less per result.
_TILES = [
    GroupTile(16, 16, 8, 8), GroupTile(16, 16, 4, 8), GroupTile(8, 16, 8, 4), GroupTile(16, 16, 4, 4),
    GroupTile(8, 16, 4, 4), GroupTile(8, 8, 4, 4), GroupTile(8, 16, 2, 4), GroupTile(16, 16, 2, 2),
    GroupTile(8, 16, 2, 2), GroupTile(8, 8, 2, 2), GroupTile(4, 16, 2, 1), GroupTile(8, 8, 1, 1),
]  # fmt: skip


def group_gemm(lowering: Lowering, product: Product) -> None:
    """Launch products with tiles in local memory, and sums of the parts of the depth if that is divided."""
    rows, columns, depth = size = product.rows, product.columns, product.depth
    left, batch, types = product.left, product.batch, product.types
    batches, total = product.batches, SUMS[types.result]
    if isinstance(left.matrices, np.ndarray):
        a = lowering.constant(left.matrices, ("transposed",), lambda array: np.ascontiguousarray(array.swapaxes(1, 2)))
        a_strides, a_row, a_step = (0, rows * depth), 1, rows
    else:
        a, a_strides, a_row, a_step = left.matrices, batch.left, left.row_stride, left.depth_stride
    tile, parts = choose_tile(lowering.profile, size, batches, total in OF_8_BYTES)
    macros = {
        "TILE_ROWS": tile.rows, "TILE_COLUMNS": tile.columns, "STEPS": STEPS, "PARTS": parts,
        "GROUP_ROWS": tile.group_rows, "GROUP_COLUMNS": tile.group_columns,
        "ITEM_ROWS": tile.item_rows, "ITEM_COLUMNS": tile.item_columns, "BY_DEPTH": int(a_step == 1 and a_row != 1),
    }  # fmt: skip
    first = product.epilogue(1) if parts == 1 else no_epilogue(1)
    (*in_offsets, offset), stride = product.offsets, product.result_stride
    target, target_offset, kind = product.result, offset, types.result
    if parts > 1:
        kind = _type_of_sums(types.result)
        target, target_offset = lowering.scratch(batches * parts * rows * columns, kind.size), 0
    text = source_of_sums("group_gemm", ProductTypes(types.left, types.right, kind), first.text, **macros)
    numbers = [*size, batch.inner, *a_strides, *batch.right, *in_offsets, target_offset, stride, a_row, a_step]
    lowering.note_decision(
        f"tiles of {tile.rows} by {tile.columns} for {hint_of(rows)} by {hint_of(columns)}, {parts} parts"
    )
    groups = [-(-columns // tile.columns), -(-rows // tile.rows), batches * parts]
    local_size = [tile.group_columns, tile.group_rows, 1]
    global_size = [count * items for count, items in zip(groups, local_size)]
    arguments: list[Argument] = [a, product.right, target, *numbers, *first.arguments]
    lowering.launch(text, "group_gemm", arguments, global_size, local_size)
    if parts > 1:
        after = product.epilogue(1)
        text = source_of_sums("sum_parts", types, after.text)
        arguments = [target, product.result, rows, columns, batch.inner, parts, offset, stride]
        lowering.launch_flat(text, "sum_parts", arguments, batches * rows * columns, after.arguments)


def choose_tile(
    profile: DeviceProfile, size: tuple[int, int, int], batches: int, is_wide: bool
) -> tuple[GroupTile, int]:
    """Return the tile, and the parts of the depth, of the least cost; if any fills the device, of those that do."""
    rows, columns, depth = size = about(size[0]), about(size[1]), about(size[2])
    batches, found = about(batches), []
    for tile in _fitting_tiles(profile, is_wide):
        tiles = -(-rows // tile.rows) * -(-columns // tile.columns) * batches
        for parts in _numbers_of_parts(depth):
            is_full = tiles * parts >= FULL * profile.compute_units
            found.append((not is_full, _cost(profile, tile, parts, tiles, size, batches), tile, parts))
            if is_full:
                break
    *_, tile, parts = min(found)
    return tile, parts


def _fitting_tiles(profile: DeviceProfile, is_wide: bool) -> Iterator[GroupTile]:
    # Half of the registers, which compilers need not spill then; arithmetic of 64 bits takes more.
    most = profile.item_registers // (8 if is_wide else 2)
    for tile in _TILES:
        local_bytes = STEPS * (tile.rows + 1 + tile.columns) * (8 if is_wide else 4)
        if (
            tile.items <= profile.max_work_group_size
            and local_bytes <= profile.local_memory_bytes
            and tile.item_rows * tile.item_columns <= most
        ) or tile is _TILES[-1]:
            yield tile


def _numbers_of_parts(depth: int) -> Iterator[int]:
    """Yield the numbers of parts that are worth a try. A part has at least two tiles in depth."""
    parts = 1
    while parts == 1 or parts * 2 * STEPS <= depth:
        yield parts
        parts *= 2


def _cost(
    profile: DeviceProfile, tile: GroupTile, parts: int, tiles: int, size: tuple[int, int, int], batches: int
) -> float:
    """Return about the seconds of a product: of issuing, or of waiting for memory, and of the sums of parts."""
    rows, columns, depth = size
    steps = -(-depth // (STEPS * parts)) * STEPS
    of_step = tile.item_rows * tile.item_columns + 2 * (tile.item_rows + tile.item_columns)
    groups = -(-tiles * parts // profile.compute_units)
    issued = groups * tile.items / _LANES * steps * of_step
    waited = -(-groups // _HIDDEN) * steps * (_LATENCY / STEPS + of_step)
    seconds = max(issued, waited) / _CLOCK
    if parts > 1:
        moved = 8 * math.prod((rows, columns, batches, parts))
        seconds += profile.launch_seconds + moved / profile.bytes_per_second
    return seconds


def _type_of_sums(kind: Type) -> Type:
    """Return the element type that holds sums of results of a type."""
    return {"float": Type.f32, "double": Type.f64, "uint": Type.u32, "ulong": Type.u64}[SUMS[kind]]
