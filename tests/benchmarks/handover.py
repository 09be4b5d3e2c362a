"""Passing an output of one model on GPU to another model: remote tensor against host memory."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from hetero import Core, InferRequest, Model, Parameter, Tensor, Type, ops
from tests.benchmarks.interleaved import Comparison, interleave

# Shapes of the f32 tensor: features in the middle of a network, and the pixels of an image.
SHAPES = ([1, 64, 56, 56], [1, 3, 1080, 1920])
ROUNDS = 20


def compare() -> Iterator[Comparison]:
    core = Core()
    for shape in SHAPES:
        models = [core.compile_model(model, "GPU") for model in (_scaling(shape), _pooling(shape))]
        context = models[0].get_context()
        host, remote = Tensor(Type.f32, shape), context.create_tensor(Type.f32, shape)
        candidates = {}
        for name, between in (("host memory", host), ("remote tensor", remote)):
            first, second = (model.create_infer_request() for model in models)
            first.set_input_tensor(Tensor(np.ones([*shape[:2], 1, 1], np.float32)))
            first.set_output_tensor(between)
            second.set_input_tensor(between)
            candidates[name] = lambda first=first, second=second: _run(first, second)
        yield interleave(f"hand over f32{shape}", candidates, ROUNDS)


def _run(first: InferRequest, second: InferRequest) -> None:
    first.infer(share_outputs=True)
    second.infer(share_outputs=True)


def _scaling(shape: list[int]) -> Model:
    """Return a model with a small input and a large output of this shape."""
    x = Parameter(Type.f32, [*shape[:2], 1, 1])
    return Model(ops.Relu(ops.Multiply(x, np.ones(shape, np.float32))), [x], "scaling")


def _pooling(shape: list[int]) -> Model:
    x = Parameter(Type.f32, shape)
    return Model(ops.ReduceMean(x, np.int64([2, 3]), True), [x], "pooling")
