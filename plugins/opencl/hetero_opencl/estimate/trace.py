"""What a work-group of a launch does, found by following its control flow and its addresses.

Integers are computed for each work-item of a wave, floats are not: they are 0, as are elements read from memory. Loops
that repeat the same accesses are followed for some iterations, and the rest are counted as these.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, cast

import numpy as np

from hetero_opencl.estimate.instruction_cost import function_name
from hetero_opencl.estimate.lanes import Value, choose, compute, is_uniform, maximum, minimum
from hetero_opencl.estimate.llvm_ir import Block, Instruction, KernelCode
from hetero_opencl.estimate.static_cost import LARGEST_PIECE, BlockCost, KernelCosts, pieces_of

# Each buffer has a range of addresses of its own, as have local and private memory.
_BUFFER_BYTES, _LOCAL, _PRIVATE = 1 << 40, 1 << 60, 1 << 61
# Memory is read in sectors of 32 bytes at least: GDDR6 and HBM2 transfer as many at once (JEDEC JESD250, JESD235).
SECTOR = 32
# Iterations of a loop that are followed, and how many of these stand for the rest.
_FOLLOWED, _REPEATED = 24, 8
# Blocks that a wave runs before it is given up, as its control flow may depend on elements that are not known.
_MOST_BLOCKS = 100_000
_BANKS, _BANK_BYTES = 32, 4


@dataclass
class Work:
    """What waves do. Counts are sums over waves, those of operations over work-items.

    ``flops``: floating-point operations. ``issued``: issue slots of waves, each of which takes all lanes of the wave.
    ``alone``: cycles of a wave that has a scheduler for itself, ``accesses``: requests to the cache, of one line each,
    ``cache_bytes``: bytes that they ask for. ``local_cycles``: accesses to local memory, one bank conflict after the
    other. ``sectors``: sectors of memory that waves of a group read or write. ``private_bytes``: bytes of private
    memory, of all work-items. ``inner``: how often the waves ran their innermost loops' bodies.
    """

    flops: float = 0
    issued: float = 0
    alone: float = 0
    accesses: float = 0
    cache_bytes: float = 0
    local_cycles: float = 0
    sectors: float = 0
    private_bytes: float = 0
    inner: float = 0
    waves: float = 0
    is_complete: bool = True

    def add(self, other: Work, times: float = 1) -> None:
        for name in _COUNTS:
            setattr(self, name, getattr(self, name) + times * getattr(other, name))
        self.is_complete = self.is_complete and other.is_complete


_COUNTS = tuple(name for name in Work.__dataclass_fields__ if name != "is_complete")


class Geometry(NamedTuple):
    """Work sizes of a launch, in three dimensions."""

    global_size: tuple[int, int, int]
    local_size: tuple[int, int, int]

    @property
    def groups(self) -> tuple[int, int, int]:
        x, y, z = (-(-a // b) for a, b in zip(self.global_size, self.local_size))
        return x, y, z


def trace_group(
    kernel: KernelCode,
    costs: KernelCosts,
    arguments: Sequence[int],
    geometry: Geometry,
    group: int,
    wave: int,
    line: int,
) -> Work:
    """Return the work of a group, by its index; waves have ``wave`` work-items, and cache lines ``line`` bytes."""
    work, seen = Work(), set[int]()
    items = int(np.prod(geometry.local_size))
    for first in range(0, items, wave):
        tracer = _Wave(
            kernel, costs, arguments, geometry, group, np.arange(first, min(first + wave, items)), line, seen
        )
        work.add(tracer.run())
    work.sectors = len(seen) + work.sectors
    return work


@dataclass
class _Snapshot:
    """Counts and values at an iteration of a loop."""

    work: Work
    sectors: int
    values: dict[str, Value]
    mask: np.ndarray


class _Wave:
    def __init__(
        self, kernel: KernelCode, costs: KernelCosts, arguments: Sequence[int], geometry: Geometry, group: int,
        items: np.ndarray, line: int, seen: set[int],
    ) -> None:  # fmt: skip
        self._kernel, self._costs, self._geometry, self._line, self._seen = kernel, costs, geometry, line, seen
        self._patterns: dict[tuple[bytes, int, int], tuple[int, int, np.ndarray]] = {}
        self._conflicts: dict[tuple[bytes, int], int] = {}
        x, y, _ = geometry.local_size
        self._local = [items % x, items // x % y, items // x // y]
        across = geometry.groups
        self._group = [group % across[0], group // across[0] % across[1], group // across[0] // across[1]]
        self._count = len(items)
        self._values: dict[str, Value] = dict(zip(kernel.parameters, arguments))
        offset = _LOCAL
        for name, size in kernel.local_arrays.items():
            self._values[name], offset = offset, offset + size
        self._private = _PRIVATE
        self._order = {name: index for index, name in enumerate(kernel.blocks)}
        self._names = list(kernel.blocks)
        self.work = Work(waves=1)
        self._history: dict[str, list[_Snapshot]] = defaultdict(list)

    def run(self) -> Work:
        everyone = np.ones(self._count, bool)
        pending: dict[int, np.ndarray] = {0: everyone}
        before = np.full(self._count, -1)
        for _ in range(_MOST_BLOCKS):
            if not pending:
                return self.work
            at = min(pending)
            mask = pending.pop(at)
            block = self._kernel.blocks[self._names[at]]
            targets = self._run_block(block, mask, before)
            before = np.where(mask, at, before)
            for target, taken in targets:
                index = self._order[target]
                pending[index] = pending[index] | taken if index in pending else taken
        self.work.is_complete = False
        return self.work

    def _run_block(self, block: Block, mask: np.ndarray, before: np.ndarray) -> list[tuple[str, np.ndarray]]:
        """Run a block for the work-items of a mask; return the blocks that follow, with the work-items of each."""
        everyone = bool(mask.all())
        cost = self._costs.blocks[block.name]
        self.work.flops += cost.flops * int(mask.sum())
        self.work.issued += cost.slots
        self.work.alone += cost.alone
        self._set_phis(block, mask, before, everyone)
        if cost.is_loop:
            self.work.inner += 1
            if (before[mask] != self._order[block.name]).any():
                self._history[block.name].clear()
            self._skip_iterations(cost, mask, everyone)
        for instruction in cost.followed:
            self._follow(instruction, mask, everyone)
        return self._targets(block.instructions[-1], mask)

    def _set_phis(self, block: Block, mask: np.ndarray, before: np.ndarray, everyone: bool) -> None:
        new: dict[str, Value] = {}
        for phi in self._costs.blocks[block.name].phis:
            value: Value | None = None
            for operand, source in zip(phi.operands, phi.blocks):
                came = before == self._order[source]
                if not (came & mask).any():
                    continue
                here = self._value(operand)
                value = here if value is None else choose(came, here, value)
            new[phi.name] = 0 if value is None else value
        for name, value in new.items():
            self._assign(name, value, mask, everyone)

    def _assign(self, name: str, value: Value, mask: np.ndarray, everyone: bool) -> None:
        self._values[name] = value if everyone or name not in self._values else choose(mask, value, self._values[name])

    def _value(self, operand: str) -> Value:
        if operand[0] in "%@":
            return self._values.get(operand, 0)
        if operand[0] in "-0123456789":
            return int(operand) if "." not in operand and "x" not in operand else 0
        return 1 if operand == "true" else 0

    def _targets(self, last: Instruction, mask: np.ndarray) -> list[tuple[str, np.ndarray]]:
        if last.opcode == "br" and not last.operands:
            return [(last.blocks[0], mask)]
        if last.opcode == "br":
            condition = self._value(last.operands[0])
            if not isinstance(condition, np.ndarray):
                return [(last.blocks[0 if condition else 1], mask)]
            taken = (condition != 0) & mask
            return [(name, lanes) for name, lanes in zip(last.blocks, (taken, mask & ~taken)) if lanes.any()]
        if last.opcode == "switch":
            value, rest, targets = self._value(last.operands[0]), mask, []
            for case, name in zip(last.operands[1:], last.blocks[1:]):
                taken = rest & (value == int(case))
                if taken.any():
                    targets.append((name, taken))
                rest = rest & ~taken
            return [*targets, (last.blocks[0], rest)] if rest.any() else targets
        return []

    def _follow(self, instruction: Instruction, mask: np.ndarray, everyone: bool) -> None:
        opcode = instruction.opcode
        if opcode == "call":
            return self._call(instruction, mask, everyone)
        if opcode in ("load", "store"):
            pieces = pieces_of(instruction, self._costs.unaligned_bytes)
            self._access(self._value(instruction.operands[-1]), *pieces, mask)
            value: Value = 0
        elif opcode == "getelementptr":
            value = self._value(instruction.operands[0])
            for index, stride in zip(instruction.operands[1:], instruction.strides):
                value = value + self._value(index) * stride
        elif opcode == "alloca":
            value, self._private = self._private, self._private + int(instruction.operands[0])
        else:
            value = compute(instruction, [self._value(operand) for operand in instruction.operands])
        if instruction.name:
            self._assign(instruction.name, value, mask, everyone)

    def _call(self, call: Instruction, mask: np.ndarray, everyone: bool) -> None:
        name, result = function_name(call.callee), cast(Value, 0)
        axis = call.operands[0] if call.operands else ""
        if name.startswith("get_"):
            result = self._identifier(name, int(axis) if axis.isdigit() else 0)
        elif name.startswith(("vload", "vstore")):
            is_load = name.startswith("vload")
            offset, pointer = call.operands[-2:] if is_load else call.operands[1:3]
            size, piece = pieces_of(call, self._costs.unaligned_bytes)
            self._access(self._value(pointer) + self._value(offset) * size, size, piece, mask)
        elif name in ("min", "smin", "umin", "max", "smax", "umax") and not call.type.is_float and call.type.count == 1:
            a, b = (self._value(operand) for operand in call.operands)
            result = minimum(a, b) if "min" in name else maximum(a, b)
        elif name == "memcpy":
            size = int(np.max(np.broadcast_to(self._value(call.operands[2]), (self._count,))[mask]))
            for pointer in call.operands[:2]:
                self._access(self._value(pointer), size, LARGEST_PIECE, mask)
        if call.name:
            self._assign(call.name, result, mask, everyone)

    def _identifier(self, name: str, axis: int) -> Value:
        size = self._geometry.local_size[axis]
        found: Mapping[str, Value] = {
            "get_local_id": self._local[axis],
            "get_group_id": self._group[axis],
            "get_global_id": self._local[axis] + self._group[axis] * size,
            "get_local_size": size,
            "get_global_size": self._geometry.global_size[axis],
            "get_num_groups": self._geometry.groups[axis],
        }
        return found.get(name, 0)

    def _access(self, address: Value, size: int, piece: int, mask: np.ndarray) -> None:
        """Count an access to ``size`` bytes at each address, of which a work-item accesses ``piece`` bytes at once."""
        at = address if isinstance(address, np.ndarray) else np.full(self._count, address)
        if not mask.all():
            at = at[mask]
        first = int(at[0])
        if first >= _PRIVATE:
            self.work.private_bytes += size * len(at)
            return
        if first >= _LOCAL:
            self.work.local_cycles += self._local_cycles(at - first, size)
            return
        base = first // self._line * self._line
        key = ((at - base).tobytes(), size, piece)
        if key not in self._patterns:
            self._patterns[key] = self._pattern(at - base, size, piece)
        accesses, asked, sectors = self._patterns[key]
        self.work.accesses += accesses
        self.work.cache_bytes += asked
        self._seen.update((sectors + base // SECTOR).tolist())

    def _local_cycles(self, at: np.ndarray, size: int) -> int:
        """Return the cycles of an access to local memory. Which bank comes first does not matter."""
        key = at.tobytes(), size
        if key not in self._conflicts:
            words = [np.unique((at + start) // _BANK_BYTES) % _BANKS for start in range(0, size, _BANK_BYTES)]
            self._conflicts[key] = sum(int(np.bincount(banks).max()) for banks in words)
        return self._conflicts[key]

    def _pattern(self, at: np.ndarray, size: int, piece: int) -> tuple[int, int, np.ndarray]:
        """Return the requests of lines, the bytes that are asked for, and the sectors of an access."""
        starts = at + np.arange(0, size, piece)[:, None]
        lines = np.sort(np.concatenate([starts // self._line, (starts + piece - 1) // self._line], axis=1), axis=1)
        accesses = len(lines) + np.count_nonzero(np.diff(lines, axis=1))
        asked = size * len(np.unique(at))
        steps = np.arange(0, max(size, 1), SECTOR)
        sectors = np.unique(np.concatenate([(at[:, None] + steps).ravel(), at + size - 1]) // SECTOR)
        return int(accesses), asked, sectors

    def _skip_iterations(self, cost: BlockCost, mask: np.ndarray, everyone: bool) -> None:
        """Count most iterations of a loop of one block as those before, and go on with the values of its last ones."""
        history = self._history[cost.block.name]
        if history and not np.array_equal(history[-1].mask, mask):
            history.clear()
        tracked = [phi.name for phi in cost.phis] + list(cost.condition.operands if cost.condition else ())
        counted = Work()
        counted.add(self.work)
        values = {name: _common(self._value(name), mask) for name in tracked}
        history.append(_Snapshot(counted, len(self._seen), values, mask))
        if len(history) != _FOLLOWED:
            return
        steps = _steps([snapshot.values for snapshot in history[-_REPEATED:]])
        left = cost.iterations_left(history[-1].values, steps) if steps else 0
        if left <= _REPEATED:
            return
        past, skipped = history[-1 - _REPEATED], (left - 2) / _REPEATED
        self.work.sectors += skipped * (len(self._seen) - past.sectors)
        change = Work()
        change.add(self.work)
        change.add(past.work, -1)
        change.sectors = 0
        self.work.add(change, skipped)
        for phi in cost.phis:
            self._assign(phi.name, self._values[phi.name] + steps[phi.name] * (left - 2), mask, everyone)


def _common(value: Value, mask: np.ndarray) -> Value:
    """Return the number that all work-items of the mask have, or the value if they differ."""
    if not isinstance(value, np.ndarray):
        return value
    chosen = value[mask]
    return int(chosen[0]) if (chosen == chosen[0]).all() else np.where(mask, value, 0)


def _steps(values: Sequence[Mapping[str, Value]]) -> dict[str, Value]:
    """Return by how much each value grows per iteration; empty if any does not grow by the same amount each time."""
    steps: dict[str, Value] = {}
    for name, last in values[-1].items():
        changes = [after[name] - before[name] for before, after in itertools.pairwise(values)]
        if not all(np.array_equal(change, changes[0]) for change in changes):
            return {}
        steps[name] = changes[0] if is_uniform(last) else np.asarray(changes[0])
    return steps
