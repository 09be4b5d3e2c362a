"""Overlap of devices: two devices that sleep for T seconds in each inference, in a chain and as parallel branches.

The ideal: a chain takes 2 T for one inference, and T per inference for several in flight. Parallel branches take T.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
from hetero_template.compiled_model import TemplateCompiledModel
from hetero_template.infer_request import TemplateInferRequest
from hetero_template.plugin import TemplatePlugin

from hetero import AsyncInferQueue, Core, Model, Parameter, Type, ops
from tests.benchmarks.interleaved import Comparison, interleave

T = 0.01
INFERENCES = 50
ROUNDS = 5
X = np.ones([4], np.float32)
AFFINITIES = {"tanh": "A", "exp": "B"}


class _SleepingRequest(TemplateInferRequest):
    """As on a device with a queue, the time begins in ``start``."""

    def start(self) -> None:
        super().start()
        self._end = time.perf_counter() + T

    def wait(self) -> None:
        time.sleep(max(0.0, self._end - time.perf_counter()))


class _SleepingModel(TemplateCompiledModel):
    def create_sync_infer_request(self) -> _SleepingRequest:
        return _SleepingRequest(self)


class _SleepingPlugin(TemplatePlugin):
    def compile(self, prepared):
        return _SleepingModel(prepared)


def compare() -> Iterator[Comparison]:
    core = Core()
    for name in "AB":
        core.register_plugin(_SleepingPlugin, name)
    x = Parameter(Type.f32, [4])
    chain = core.compile_model(_named(ops.Exp, _named(ops.Tanh, x)), "HETERO:A,B", {"AFFINITIES": AFFINITIES})
    request, queue = chain.create_infer_request(), AsyncInferQueue(chain, 3)

    def one_by_one() -> None:
        for _ in range(INFERENCES):
            request.infer(X)

    def in_flight() -> None:
        for _ in range(INFERENCES):
            queue.start_async(X)
        queue.wait_all()

    candidates = {f"{INFERENCES} x T": lambda: time.sleep(INFERENCES * T), "one by one": one_by_one}
    yield interleave("chain on two sleeping devices", candidates | {"in flight": in_flight}, ROUNDS)
    model = Model([_named(ops.Tanh, x).results[0].input_value(0), ops.Exp(x, name="exp")], [x])
    branches = core.compile_model(model, "HETERO:A,B", {"AFFINITIES": AFFINITIES}).create_infer_request()
    candidates = {"T": lambda: time.sleep(T), "infer": lambda: branches.infer(X)}
    yield interleave("branches on two sleeping devices", candidates, 5 * ROUNDS)


def _named(kind: type, source: Parameter | Model) -> Model:
    """Apply an operation, named by its type in lower case, to a Parameter or to the only output of a model."""
    is_model = isinstance(source, Model)
    node = kind(source.results[0].input_value(0) if is_model else source, name=kind.__name__.lower())
    return Model(node, source.parameters if is_model else [source])
