"""What cutting costs: a chain of 64 small operations cut into 1, 2, 4, … 64 subgraphs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from hetero_template.plugin import TemplatePlugin

from hetero import Core, Model, Parameter, Type, ops
from hetero.graph.runtime_info import AFFINITY
from tests.benchmarks.interleaved import Comparison, interleave

LENGTH = 64
ROUNDS = 50


def compare() -> Iterator[Comparison]:
    core = Core()
    for name in "AB":
        core.register_plugin(TemplatePlugin, name)
    x = np.ones([16], np.float32)
    candidates = {}
    for cuts in (1, 2, 4, 8, 16, 32, 64):
        request = core.compile_model(_chain(cuts), "HETERO:A,B").create_infer_request()
        candidates[f"{cuts} subgraphs"] = lambda request=request: request.infer(x, True, True)
    yield interleave(f"chain of {LENGTH}", candidates, ROUNDS)


def _chain(cuts: int) -> Model:
    parameter = Parameter(Type.f32, [16])
    value = parameter.output(0)
    for index in range(LENGTH):
        node = ops.Relu(value)
        node.rt_info[AFFINITY] = "AB"[index * cuts // LENGTH % 2]
        value = node.output(0)
    return Model(value, [parameter], f"chain in {cuts}")
