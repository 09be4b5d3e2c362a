"""Overhead of boundaries between subgraphs, against OpenVINO's HETERO with its CPU plugin under two names.

A chain of 64 small operations is cut into 1, 2, 4, … 64 subgraphs, and ResNet-50 at every operation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import openvino
from hetero_template.plugin import TemplatePlugin

import hetero
from hetero import Core, Parameter, Type, ops
from hetero.graph.rt_info import AFFINITY
from tests import zoo
from tests.benchmarks.interleaved import Comparison, interleave

LENGTH = 64
CUTS = (1, 2, 4, 8, 16, 32, 64)
NETWORK = "resnet50"
ROUNDS = {LENGTH: 50, NETWORK: 10}


def compare() -> Iterator[Comparison]:
    """Compare the chains, the mean cost of one more boundary, and ResNet-50."""
    core, theirs = _core(), _openvino()
    x = np.ones([16], np.float32)
    candidates = {f"{cuts} subgraphs": _hetero(core, _chain(cuts), x) for cuts in CUTS}
    candidates |= {f"openvino {cuts}": _in_openvino(theirs, _openvino_chain(cuts), x) for cuts in (1, LENGTH)}
    chain = interleave(f"chain of {LENGTH}", candidates, ROUNDS[LENGTH])
    yield chain
    added = {
        name: (chain.medians[cut] - chain.medians[uncut]) / (LENGTH - 1)
        for name, uncut, cut in (
            ("hetero", "1 subgraphs", f"{LENGTH} subgraphs"),
            ("openvino", "openvino 1", f"openvino {LENGTH}"),
        )
    }
    yield Comparison("one more boundary", added)
    feeds = next(iter(zoo.inputs(NETWORK).values()))
    networks = {}
    for name, cut in (("uncut", False), ("cut", True)):
        networks[f"hetero {name}"] = _hetero(core, _network(core, cut), feeds)
        networks[f"openvino {name}"] = _in_openvino(theirs, _openvino_network(theirs, cut), feeds)
    yield interleave(NETWORK, networks, ROUNDS[NETWORK])


def _core() -> Core:
    core = Core()
    for name in "AB":
        core.register_plugin(TemplatePlugin, name)
    return core


def _openvino() -> openvino.Core:
    core = openvino.Core()
    core.register_plugin("openvino_intel_cpu_plugin", "CPU2")
    return core


def _hetero(core: Core, model: hetero.Model, x: np.ndarray) -> Callable[[], object]:
    request = core.compile_model(model, "HETERO:A,B").create_infer_request()
    return lambda: request.infer(x, True, True)


def _in_openvino(core: openvino.Core, model: openvino.Model, x: np.ndarray) -> Callable[[], object]:
    request = core.compile_model(model, "HETERO:CPU,CPU2", {"INFERENCE_PRECISION_HINT": "f32"}).create_infer_request()
    return lambda: request.infer(x, True, True)


def _chain(cuts: int) -> hetero.Model:
    parameter = Parameter(Type.f32, [16])
    value = parameter.output(0)
    for index in range(LENGTH):
        node = ops.Relu(value)
        node.rt_info[AFFINITY] = "AB"[index * cuts // LENGTH % 2]
        value = node.output(0)
    return hetero.Model(value, [parameter], f"chain in {cuts}")


def _openvino_chain(cuts: int) -> openvino.Model:
    opset = openvino.opset13
    value = parameter = opset.parameter([16], openvino.Type.f32)
    for _ in range(LENGTH):
        value = opset.relu(value)
    model = openvino.Model([value], [parameter], f"chain in {cuts}")
    _place(model, lambda index: index * cuts // LENGTH % 2)
    return model


def _network(core: Core, is_cut: bool) -> hetero.Model:
    model = core.read_model(zoo.path(NETWORK))
    operations = [n for n in model.get_ordered_ops() if n.type_info.name not in ("Parameter", "Constant", "Result")]
    for index, node in enumerate(operations):
        node.rt_info[AFFINITY] = "AB"[index % 2 if is_cut else 0]
    return model


def _openvino_network(core: openvino.Core, is_cut: bool) -> openvino.Model:
    model = core.read_model(zoo.path(NETWORK))
    _place(model, lambda index: index % 2 if is_cut else 0)
    return model


def _place(model: openvino.Model, device: Callable[[int], int]) -> None:
    """Place operations alternately on CPU and CPU2, with their inputs, constants and results."""
    others = ("Parameter", "Constant", "Result")
    operations = [node for node in model.get_ordered_ops() if node.get_type_name() not in others]
    for index, node in enumerate(operations):
        name = ("CPU", "CPU2")[device(index)]
        sources = [value.get_source_output().get_node() for value in node.inputs()]
        targets = [reader.get_node() for value in node.outputs() for reader in value.get_target_inputs()]
        neighbors = [other for other in (*sources, *targets) if other.get_type_name() in others]
        for placed in (node, *neighbors):
            placed.get_rt_info()["affinity"] = name
