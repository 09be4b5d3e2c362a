"""Figures of a device, measured with a few small models on first need."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable

import numpy as np

from hetero import ops
from hetero.dispatch.affinity import Device
from hetero.dispatch.measured import Figures, Measured
from hetero.errors import HeteroError
from hetero.graph import Model, Node, Parameter
from hetero.tensor import Tensor
from hetero.types import Type

log = logging.getLogger("hetero.dispatch")

# Rows of the square matrices of the product, operations of the chain, and elements of what is large.
SIZE = 512
CHAIN = 16
LARGE = 2**22
# Of the image for the convolution, as in the middle of a network.
CHANNELS, WIDTH = 64, 56
RUNS = 7
# What is too fast to be told from the rest is taken to be this fast: operations or bytes a second.
FASTEST = 1e14


def figures_of(device: Device, measured: Measured) -> Figures:
    """The figures that are kept, or else are measured now, and kept."""
    figures = measured.figures(device)
    if figures is None:
        log.info("measuring %s for the first time", device.name)
        figures = measure(device)
        measured.keep_figures(device, figures)
    return figures


def measure(device: Device) -> Figures:
    """Measure a device; what it cannot run, or fails in, is left at its default."""
    default = Figures()
    one = _seconds(device, [16], ops.Relu)
    many = _seconds(device, [1, 16], lambda x: _products(x, np.eye(16, dtype=np.float32), CHAIN))
    single = _seconds(device, [1, 16], lambda x: _products(x, np.eye(16, dtype=np.float32), 1))
    product = _seconds(device, [SIZE, SIZE], lambda x: _products(x, np.eye(SIZE, dtype=np.float32), 1))
    inside = _seconds(device, [1], lambda x: _maximum(ops.Add(x, _large())))
    up = _seconds(device, [LARGE], _maximum)
    down = _seconds(device, [1], lambda x: ops.Add(x, _large()))
    launch = (many - single) / (CHAIN - 1)
    launch = default.launch if math.isnan(launch) else max(launch, 1e-7)
    subgraph = default.subgraph if math.isnan(one) else max(one - launch, 1e-7)
    # The constant is read, the sum is written, and read to find its maximum.
    of_bytes = _rate(3 * 4 * LARGE, inside - one, default.bytes)
    upload = _rate(4 * LARGE, up - one - 4 * LARGE / of_bytes, default.upload)
    download = _rate(4 * LARGE, down - one - 2 * 4 * LARGE / of_bytes, default.download)
    transfers = 4 * SIZE * SIZE * (1 / upload + 1 / download)
    operations = _rate(2 * SIZE**3, product - one - transfers, default.operations)
    image = [1, CHANNELS, WIDTH, WIDTH]
    convolution = _seconds(device, image, _convolution)
    transfers = 4 * math.prod(image) * (1 / upload + 1 / download)
    count = 2 * math.prod(image) * CHANNELS * 9
    return Figures(
        operations=operations,
        convolutions=_rate(count, convolution - one - transfers, operations),
        bytes=of_bytes,
        upload=upload,
        download=download,
        launch=launch,
        subgraph=subgraph,
    )


def _rate(amount: float, seconds: float, default: float) -> float:
    return default if math.isnan(seconds) else amount / max(seconds, amount / FASTEST)


def _seconds(device: Device, shape: list[int], make: Callable[[Parameter], Node]) -> float:
    """The seconds of one inference of a small model, the best of several; not a number where there is none."""
    parameter = Parameter(Type.f32, shape)
    try:
        compiled = device.compile(Model(make(parameter), [parameter], f"measuring {device.name}"))
        request = compiled.create_sync_infer_request()
        request.set_tensor(compiled.inputs[0], Tensor(np.full(shape, 0.5, np.float32)))
        return min(_timed(request.infer) for _ in range(RUNS))
    except HeteroError as error:
        log.debug("%s could not be measured: %s", device.name, error)
        return math.nan


def _timed(run: Callable[[], None]) -> float:
    started = time.perf_counter()
    run()
    return time.perf_counter() - started


def _products(x: Parameter, matrix: np.ndarray, count: int) -> Node:
    value: Node = x
    for _ in range(count):
        value = ops.MatMul(value, matrix, False, False)
    return value


def _convolution(x: Parameter) -> Node:
    filters = np.full([CHANNELS, CHANNELS, 3, 3], 0.01, np.float32)
    return ops.Convolution(x, filters, [1, 1], [1, 1], [1, 1], [1, 1])


def _large() -> np.ndarray:
    return np.zeros(LARGE, np.float32)


def _maximum(value: Node) -> Node:
    return ops.ReduceMax(value, np.int64([0]), True)
