"""What instructions of LLVM IR cost on a GPU: floating-point operations, and issue slots of a work-item.

A slot is a lane for a cycle. A multiplication and an addition together take one, as do other f32 and i32 instructions;
division and functions take several: their number of slots follows from how AMD's device libraries compute them, with
the quarter rate that NVIDIA's CUDA C++ Programming Guide gives for the instructions underneath.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from hetero_opencl.estimate.llvm_ir import Instruction

# Slots of functions and of operations that are more than an instruction, per element.
_SLOTS = {
    "exp": 10, "exp2": 6, "log": 10, "log2": 6, "sqrt": 12, "rsqrt": 4, "tanh": 30, "erf": 30, "pow": 40, "sin": 40,
    "cos": 40, "fdiv": 12, "sdiv": 30, "udiv": 24, "srem": 32, "urem": 26, "frem": 30,
}  # fmt: skip
# Elements of 8 bytes take as many times the slots of those of 4, at least: 64-bit integers are added and multiplied in
# parts. f64 is rarer and slower on most of these GPUs.
_WIDE = 2
_FREE = {
    "phi", "br", "switch", "ret", "unreachable", "alloca", "sext", "zext", "trunc", "bitcast", "freeze",
    "extractelement", "insertelement", "shufflevector", "addrspacecast", "ptrtoint", "inttoptr", "load", "store",
}  # fmt: skip
_FLOPS = {"fadd": 1, "fsub": 1, "fmul": 1, "fdiv": 1, "fneg": 0, "fmuladd": 2, "fma": 2, "mad": 2}
_MANGLED = re.compile(r"^_Z(\d+)")
_NO_WORK = ("get_", "barrier", "llvm.lifetime", "llvm.assume", "llvm.memcpy", "vload", "vstore", "mem_fence")


class Cost(NamedTuple):
    """Floating-point operations and issue slots of an instruction for a work-item."""

    flops: int
    slots: int


def function_name(callee: str) -> str:
    """Return the name of a function of OpenCL C or of an intrinsic: fmuladd for llvm.fmuladd.v16f32."""
    if match := _MANGLED.match(callee):
        return callee[match.end() : match.end() + int(match[1])]
    return callee.split(".")[1] if callee.startswith("llvm.") else callee


def cost_of(instruction: Instruction) -> Cost:
    """Return what an instruction costs if its result differs between work-items, without accesses to memory."""
    opcode = instruction.opcode.split()[0]
    name = function_name(instruction.callee) if opcode == "call" else opcode
    if name in _FREE or name.startswith(_NO_WORK) or instruction.callee.startswith(_NO_WORK):
        return Cost(0, 0)
    kind = instruction.type
    wide = _WIDE if kind.scalar in ("i64", "double") else 1
    slots = _SLOTS.get(name.removeprefix("native_").removeprefix("half_"), 1) * wide
    computes = kind.is_float and opcode == "call" and not name.startswith(("convert_", "as_"))
    return Cost(_FLOPS.get(name, int(computes)) * kind.count, slots * kind.count)
