"""The pass sink_transposes on NHWC models: its own time, and the inference time that it saves."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import numpy as np

from hetero import Core, Model, Parameter, Type, ops
from hetero.graph import Output
from hetero.passes import sink_transposes
from tests import zoo
from tests.benchmarks.interleaved import Comparison, interleave
from tests.nhwc import TO_NCHW, TO_NHWC, as_nhwc, transposed

DEVICES = ("TEMPLATE", "GPU.0")
NETWORKS = ("squeezenet", "resnet50")
ROUNDS = 5
BLOCKS = 10_000  # of ten nodes each


def compare() -> Iterator[Comparison]:
    core = Core()
    for name in NETWORKS:
        plain = core.read_model(zoo.path(name))
        nhwc, sunk = as_nhwc(plain), as_nhwc(plain)
        sink_transposes(sunk)
        (image,) = zoo.inputs(name).values()
        pixels = np.ascontiguousarray(image.transpose(TO_NHWC))
        for device in DEVICES:
            candidates = {
                "NHWC": _inference(core, nhwc, device, pixels),
                "transposes sunk": _inference(core, sunk, device, pixels),
                "NCHW": _inference(core, plain, device, image),
            }
            yield interleave(f"{name} in NHWC, {device}", candidates, ROUNDS)


def sinking() -> list[str]:
    """Return the time of the pass on a large model, and for comparison the time of Model.clone()."""
    model = _blocks()
    nodes = len(model.get_ordered_ops())
    started = time.perf_counter()
    copy = model.clone()
    copied = time.perf_counter()
    sink_transposes(copy)
    sunk = time.perf_counter()
    return [
        f"{f'transposes of {nodes} nodes':32} {what:16} {seconds * 1e3:12.4f} ms"
        for what, seconds in (("clone", copied - started), ("sink_transposes", sunk - copied))
    ]


def _inference(core: Core, model: Model, device: str, image: np.ndarray) -> Callable[[], object]:
    request = core.compile_model(model, device).create_infer_request()
    return lambda: request.infer([image], share_inputs=True, share_outputs=True)


def _blocks() -> Model:
    image = Parameter(Type.f32, [1, 8, 8, 4])
    filters, bias = (np.ones(shape, np.float32) for shape in ((4, 4, 1, 1), (4,)))
    value = image.output(0)
    for _ in range(BLOCKS):
        value = _block(value, filters, bias)
    return Model(value, [image])


def _block(value: Output, filters: np.ndarray, bias: np.ndarray) -> Output:
    """Append a convolution between Transposes, a bias and a residual connection."""
    convolution = ops.Convolution(transposed(value, TO_NCHW), filters, [1, 1], [0, 0], [0, 0], [1, 1])
    return ops.Relu(ops.Add(ops.Add(transposed(convolution.output(0), TO_NHWC), bias), value)).output(0)
