"""Fused: its operations run one after the other."""

from __future__ import annotations

from hetero import ops
from hetero.reference.program import Program
from hetero.reference.registry import Array, Run, Runner, prepares


@prepares(ops.Fused)
def fused(node: ops.Fused) -> Runner:
    program = Program(node.body)

    def run_node(run: Run, *arrays: Array) -> list[Array]:
        return program.run(arrays, run)

    return run_node
