"""Compilations of models that are cut, with their work counted: nodes copied and nodes that passes went through.

``python -m tests.benchmarks.cut_compilations`` is a child process of ``compilation``: it compiles the case whose name
it reads from a line, and answers with a line of JSON. It works in earlier revisions of hetero too.
"""

from __future__ import annotations

import contextlib
import json
import logging
import random
import sys
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

import hetero
from hetero import Model, Parameter, Type, ops
from hetero.graph import is_terminal
from hetero.graph.node import Node
from hetero.graph.rt_info import AFFINITY
from hetero.passes.manager import PassManager
from tests import zoo

DEVICES = ("GPU", "TEMPLATE")
SEED = 20261127
WIDTH, HEADS, LENGTH = 64, 4, 16


def densenet() -> Model:
    return hetero.Core().read_model(zoo.path("densenet121"))


def chain(operations: int = 1000) -> Model:
    parameter = Parameter(Type.f32, [1, 64])
    value: Node = parameter
    for index in range(operations):
        value = ops.Relu(value) if index % 2 else ops.Add(value, np.float32(0.5))
    return Model([value], [parameter], "chain")


def decoder(operations: int = 1000) -> Model:
    """Return a decoder with random weights of at least this number of operations."""
    generator = np.random.default_rng(SEED)

    def weights(*shape: int) -> np.ndarray:
        return generator.standard_normal(shape, np.float32) / np.float32(shape[0] ** 0.5)

    def product(left: Node, right: Node | np.ndarray) -> Node:
        return ops.MatMul(left, right, False, False)

    def heads(value: Node) -> Node:
        return ops.Transpose(ops.Reshape(value, [1, LENGTH, HEADS, WIDTH // HEADS], False), [0, 2, 1, 3])

    def normalized(value: Node) -> Node:
        centered = ops.Subtract(value, ops.ReduceMean(value, [-1], True))
        variance = ops.ReduceMean(ops.Multiply(centered, centered), [-1], True)
        scaled = ops.Divide(centered, ops.Sqrt(ops.Add(variance, np.float32(1e-5))))
        return ops.Add(ops.Multiply(scaled, weights(WIDTH)), weights(WIDTH))

    parameter = Parameter(Type.f32, [1, LENGTH, WIDTH])
    value: Node = parameter
    model = Model([value], [parameter], "decoder")
    while len(_operations(model)) < operations:
        queries, keys, values = (heads(product(normalized(value), weights(WIDTH, WIDTH))) for _ in range(3))
        scores = ops.Multiply(ops.MatMul(queries, keys, False, True), np.float32((WIDTH // HEADS) ** -0.5))
        mixed = ops.Transpose(product(ops.Softmax(scores, -1), values), [0, 2, 1, 3])
        value = ops.Add(value, product(ops.Reshape(mixed, [1, LENGTH, WIDTH], False), weights(WIDTH, WIDTH)))
        hidden = product(normalized(value), weights(WIDTH, 4 * WIDTH))
        gate = ops.Multiply(hidden, ops.Sigmoid(hidden))
        value = ops.Add(value, product(gate, weights(4 * WIDTH, WIDTH)))
        model = Model([value], [parameter], "decoder")
    return model


def _operations(model: Model) -> list[Node]:
    return [node for node in model.get_ordered_ops() if not is_terminal(node)]


def uncut(model: Model) -> None:
    """Leave the placement to HETERO."""


def cut_in_the_middle(model: Model) -> None:
    nodes = _operations(model)
    for index, node in enumerate(nodes):
        node.rt_info[AFFINITY] = DEVICES[2 * index >= len(nodes)]


def cut_at_random(model: Model) -> None:
    generator = random.Random(SEED)
    for node in _operations(model):
        node.rt_info[AFFINITY] = generator.choice(DEVICES)


CASES: dict[str, tuple[Callable[[], Model], Callable[[Model], None]]] = {
    f"{make.__name__}, {pin.__name__.replace('_', ' ')}": (make, pin)
    for make in (densenet, decoder, chain)
    for pin in (uncut, cut_in_the_middle, cut_at_random)
}


class Compilation(NamedTuple):
    """What a compilation took: seconds, copies of nodes, runs of passes, and the nodes that these went through."""

    seconds: float
    copies: int
    passes: int
    nodes: int


@contextlib.contextmanager
def _counted(counts: dict[str, int]) -> Iterator[None]:
    copy, run = Node.copy_with_new_inputs, PassManager.run

    def counted_copy(self: Node, *arguments: object) -> Node:
        counts["copies"] += 1
        return copy(self, *arguments)  # type: ignore[arg-type]  # whatever the revision takes

    def counted_run(self: PassManager, model: Model) -> list[str]:
        counts["passes"] += len(self.names)
        counts["nodes"] += len(self.names) * len(model.get_ordered_ops())
        return run(self, model)

    Node.copy_with_new_inputs, PassManager.run = counted_copy, counted_run  # type: ignore[method-assign]
    try:
        yield
    finally:
        Node.copy_with_new_inputs, PassManager.run = copy, run  # type: ignore[method-assign]


def serve() -> None:
    """Compile a case for each line, until the input ends. What is compiled first is not measured."""
    logging.disable(logging.WARNING)
    core, models, counts = hetero.Core(), dict[str, Model](), dict[str, dict[str, int]]()
    for line in sys.stdin:
        case = line.strip()
        if case not in models:
            make, pin = CASES[case]
            models[case] = make()
            pin(models[case])
            core.compile_model(models[case], f"HETERO:{','.join(DEVICES)}")
            counts[case] = dict.fromkeys(("copies", "passes", "nodes"), 0)
            with _counted(counts[case]):
                core.compile_model(models[case], f"HETERO:{','.join(DEVICES)}")
        started = time.perf_counter()
        core.compile_model(models[case], f"HETERO:{','.join(DEVICES)}")
        print(json.dumps(Compilation(time.perf_counter() - started, **counts[case])), flush=True)


if __name__ == "__main__":
    serve()
