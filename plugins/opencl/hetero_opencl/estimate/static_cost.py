"""What the blocks of a kernel cost each time a wave runs them, and which of their instructions have to be followed."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from hetero_opencl.estimate.instruction_cost import cost_of, function_name
from hetero_opencl.estimate.lanes import Value
from hetero_opencl.estimate.llvm_ir import VOID, Block, Instruction, KernelCode, Type

# Cycles until a result can be used: of arithmetic, of a read of local memory, and of one of memory. LLVM's scheduling
# model of RDNA 3, which AMD maintains (SISchedule.td, GFX11SpeedModel).
ARITHMETIC_LATENCY, LOCAL_LATENCY, MEMORY_LATENCY = 5, 20, 320
# The address space of local memory.
LOCAL_SPACE = 3
# Bytes that a work-item reads or writes with one instruction.
LARGEST_PIECE = 16
_ACCESSES = ("load", "store")
_FROM_WORK_ITEM = ("get_global_id", "get_local_id", "get_global_linear_id", "get_local_linear_id")


def accessed_operands(instruction: Instruction) -> Sequence[str]:
    """Return the operands that are addresses, or parts of addresses, of an instruction that accesses memory."""
    if instruction.opcode in _ACCESSES:
        return instruction.operands[-1:]
    if instruction.opcode == "call":
        name = function_name(instruction.callee)
        if name.startswith("vload"):
            return instruction.operands[-2:]
        if name.startswith("vstore"):
            return instruction.operands[1:3]
        if name == "memcpy":
            return instruction.operands[:3]
    return ()


@functools.cache
def pieces_of(instruction: Instruction, unaligned_bytes: int) -> tuple[int, int]:
    """Return the bytes of an access, and those that one instruction of the GPU reads or writes of them.

    ``unaligned_bytes``: how many it can, however the address is aligned.
    """
    size = instruction.type.byte_size
    if instruction.opcode == "call":
        name, element = function_name(instruction.callee), _pointed_bytes(instruction.callee)
        count = int("".join(filter(str.isdigit, name.removeprefix("vload_half").removeprefix("vstore_half"))) or 1)
        size, align = count * element, element
    else:
        align = instruction.align or instruction.type.scalar_bytes
    return size, max(1, min(LARGEST_PIECE, size, max(unaligned_bytes, align)))


def _pointed_bytes(callee: str) -> int:
    """Return the bytes of the elements that a vload or vstore reads or writes, from its mangled name."""
    letter = callee.rstrip("_0123456789")[-1]
    return {"c": 1, "h": 1, "s": 2, "t": 2, "i": 4, "j": 4, "f": 4, "l": 8, "m": 8, "d": 8}.get(letter, 2)


def is_read(instruction: Instruction) -> bool:
    return instruction.opcode == "load" or function_name(instruction.callee).startswith("vload")


@dataclass(frozen=True)
class BlockCost:
    """The cost of a block for a wave: floating-point operations of a work-item, cycles of a scheduler.

    ``slots``: cycles in which it issues; ``alone``: cycles until it has run, if no other wave is there. ``phis`` and
    ``followed`` are the instructions that addresses and branches depend on. ``is_loop``: the block is a loop's body.
    """

    block: Block
    flops: int
    slots: float
    alone: float
    phis: Sequence[Instruction]
    followed: Sequence[Instruction]

    @cached_property
    def is_loop(self) -> bool:
        return self.block.name in self.block.instructions[-1].blocks

    @cached_property
    def condition(self) -> Instruction | None:
        """The comparison of integers that decides whether the loop goes on, or None."""
        last = self.block.instructions[-1]
        names = {i.name: i for i in self.block.instructions if i.opcode.startswith("icmp")}
        return names.get(last.operands[0]) if self.is_loop and last.operands else None

    def iterations_left(self, values: Mapping[str, Value], steps: Mapping[str, Value]) -> int:
        """Return how many iterations are left, or 0 if that is unknown. Values are those after the last iteration."""
        if self.condition is None:
            return 0
        left, right = self.condition.operands
        step, start, end = steps.get(left), values.get(left), values.get(right)
        if not isinstance(step, int) or not isinstance(start, int) or not isinstance(end, int) or not step:
            return 0
        about = math.ceil((end - start) / step)
        goes_on = self.block.instructions[-1].blocks[0] == self.block.name
        for count in range(max(1, about - 1), about + 3):
            if _holds(self.condition.opcode.split()[1], start + count * step, end) != goes_on:
                return count
        return 0


def _holds(predicate: str, a: int, b: int) -> bool:
    compared: Mapping[str, Callable[[int, int], bool]] = {
        "eq": int.__eq__, "ne": int.__ne__, "lt": int.__lt__, "le": int.__le__, "gt": int.__gt__, "ge": int.__ge__,
    }  # fmt: skip
    return compared[predicate if predicate in ("eq", "ne") else predicate[1:]](a, b)


class KernelCosts:
    """The costs of all blocks of a kernel on a GPU whose schedulers issue an instruction in ``cycles`` cycles.

    ``unaligned_bytes``: what a work-item reads at once from an address that is only aligned to an element.
    """

    def __init__(self, kernel: KernelCode, cycles: float, unaligned_bytes: int) -> None:
        self._cycles, self.unaligned_bytes = cycles, unaligned_bytes
        instructions = [i for block in kernel.blocks.values() for i in block.instructions]
        self._defined = {i.name: i for i in instructions if i.name}
        self._needed = self._needed_names(instructions)
        self._varying = _varying_names(instructions)
        self.blocks = {name: self._block_cost(block) for name, block in kernel.blocks.items()}

    def _needed_names(self, instructions: Iterable[Instruction]) -> set[str]:
        waiting: list[str] = []
        for instruction in instructions:
            waiting += accessed_operands(instruction)
            if instruction.opcode in ("br", "switch"):
                waiting += instruction.operands[:1]
        needed: set[str] = set()
        while waiting:
            name = waiting.pop()
            if name in self._defined and name not in needed:
                needed.add(name)
                if not is_read(self._defined[name]):
                    waiting += self._defined[name].operands
        return needed

    def _block_cost(self, block: Block) -> BlockCost:
        flops, slots = 0, 0.0
        instructions = self._merged(block.instructions)
        for instruction in instructions:
            cost = cost_of(instruction)
            flops += cost.flops
            if cost.flops or instruction.type.is_float or instruction.name in self._varying:
                slots += cost.slots
            if accessed_operands(instruction):
                size, piece = pieces_of(instruction, self.unaligned_bytes)
                slots += -(-size // piece)
        used = [i for i in instructions if i.name in self._needed or accessed_operands(i)]
        return BlockCost(
            block=block,
            flops=flops,
            slots=slots * self._cycles,
            alone=self._alone(instructions, slots * self._cycles),
            phis=[i for i in used if i.opcode == "phi"],
            followed=[i for i in used if i.opcode != "phi"],
        )

    def _merged(self, instructions: Sequence[Instruction]) -> list[Instruction]:
        """Join reads of neighboring elements into reads of up to 16 bytes, as compilers do, at the last one's place."""
        if self.unaligned_bytes < LARGEST_PIECE:
            return list(instructions)
        waiting: dict[tuple[str, int], dict[int, Instruction]] = {}
        joined: dict[str, Instruction | None] = {}
        for instruction in [*instructions, Instruction("store", "", VOID, ())]:
            if instruction.opcode == "load" and instruction.space and instruction.type.byte_size < LARGEST_PIECE:
                base, offset = self._base_of(instruction.operands[0])
                waiting.setdefault((base, instruction.type.byte_size), {})[offset] = instruction
            elif instruction.opcode == "store" or instruction.callee.startswith("_Z7barrier"):
                for (_, size), reads in waiting.items():
                    joined |= _joined(reads, size, list(instructions))
                waiting.clear()
        return [found for i in instructions if (found := joined.get(i.name, i) if i.name else i)]

    def _base_of(self, pointer: str) -> tuple[str, int]:
        """Return the pointer that one is computed from, and the constant offset in bytes."""
        made = self._defined.get(pointer)
        if made is not None and made.opcode == "getelementptr" and len(made.operands) == 2:
            index = made.operands[1]
            if index.lstrip("-").isdigit():
                return made.operands[0], int(index) * made.strides[0]
        return pointer, 0

    def _alone(self, instructions: Sequence[Instruction], slots: float) -> float:
        """Return the cycles of a block for a wave that has the scheduler for itself.

        It waits for what it reads and uses, one read after another if an address depends on the one before, and
        computes then, at the latency of arithmetic where each instruction needs the one before. What it reads for later
        blocks arrives meanwhile.
        """
        waits: dict[str, float] = {}
        chains: dict[str, float] = {}
        waited = arriving = longest = 0.0
        for instruction in instructions:
            if instruction.opcode == "phi":
                continue
            wait = max((waits.get(operand, 0.0) for operand in instruction.operands), default=0.0)
            chain = max((chains.get(operand, 0.0) for operand in instruction.operands), default=0.0)
            waited = max(waited, wait)
            if cost_of(instruction).slots:
                chain += ARITHMETIC_LATENCY * self._cycles
            if is_read(instruction):
                wait += LOCAL_LATENCY if instruction.space == LOCAL_SPACE else MEMORY_LATENCY
                arriving = max(arriving, wait)
            longest = max(longest, chain)
            waits[instruction.name], chains[instruction.name] = wait, chain
        return max(waited + max(slots, longest), arriving)


def _joined(reads: Mapping[int, Instruction], size: int, order: Sequence[Instruction]) -> dict[str, Instruction | None]:
    """Return what replaces each of some reads, by the name of its result; None if another one reads for it.

    ``reads`` are reads of ``size`` bytes, by their offset from the same pointer.
    """
    replaced: dict[str, Instruction | None] = {}
    run: list[Instruction] = []
    last = None
    for offset in [*sorted(reads), None]:
        if run and (last is None or offset != last + size or len(run) * size >= LARGEST_PIECE):
            if len(run) > 1:
                latest = max(run, key=order.index)
                whole = replace(latest, type=Type("i8", len(run) * size), operands=run[0].operands)
                replaced |= {one.name: whole if one is latest else None for one in run}
            run = []
        if offset is not None:
            run.append(reads[offset])
        last = offset
    return replaced


def _varying_names(instructions: Sequence[Instruction]) -> set[str]:
    """Return the values that may differ between the work-items of a wave."""
    varying: set[str] = set()
    count = -1
    while len(varying) != count:
        count = len(varying)
        for instruction in instructions:
            differs = function_name(instruction.callee) in _FROM_WORK_ITEM or varying.intersection(instruction.operands)
            if instruction.name and differs:
                varying.add(instruction.name)
    return varying
