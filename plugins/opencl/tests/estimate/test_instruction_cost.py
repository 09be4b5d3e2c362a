"""Costs of instructions: floating-point operations, and issue slots of a work-item."""

import pytest
from hetero_opencl.estimate.instruction_cost import cost_of
from hetero_opencl.estimate.llvm_ir import Instruction, Type

F32, F32X16, I64 = Type("float"), Type("float", 16), Type("i64")


@pytest.mark.parametrize(
    ("opcode", "kind", "callee", "cost"),
    [
        ("fadd", F32, "", (1, 1)),
        ("call", F32X16, "llvm.fmuladd.v16f32", (32, 16)),
        ("call", F32, "_Z3madfff", (2, 1)),
        ("call", F32, "_Z4fmaxff", (1, 1)),
        ("call", F32X16, "_Z15convert_float16Dv16_i", (0, 16)),
        ("sitofp", F32, "", (0, 1)),
        ("add", I64, "", (0, 2)),
        ("load", F32, "", (0, 0)),  # counted by the access
        ("call", Type("void"), "_Z7barrierj", (0, 0)),
        ("call", I64, "_Z13get_global_idj", (0, 0)),
    ],
)
def test_costs(opcode, kind, callee, cost):
    assert cost_of(Instruction(opcode, "%x", kind, (), callee=callee)) == cost
