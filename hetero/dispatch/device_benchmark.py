"""Figures of a device, measured with a few small models on first need."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping

import numpy as np

from hetero import ops
from hetero.dispatch.affinity import Device
from hetero.dispatch.cost_database import CostDatabase, DeviceBenchmark
from hetero.errors import DeviceError
from hetero.graph import Model, Node, Parameter
from hetero.messages import get_logger
from hetero.plugin import SyncInferRequest
from hetero.tensor import Tensor
from hetero.types import Type

log = get_logger("hetero.dispatch")

# Rows of the square matrices of the product, operations of the chain, and elements of what is large.
SIZE = 512
CHAIN = 16
LARGE = 2**22
# Of the image for the convolution, as in the middle of a network.
CHANNELS, WIDTH = 64, 56
# Rounds of measuring, how long they may take, and by what factor times may differ that agree.
MOST_ROUNDS, MOST_SECONDS = 50, 3.0
AGREED = 1.1
# What is too fast to be told from the rest is taken to be this fast: operations or bytes a second.
FASTEST = 1e14


def figures_of(device: Device, measured: CostDatabase) -> DeviceBenchmark:
    """The figures that are kept, or else are measured now, and kept."""
    figures = measured.figures(device)
    if figures is None:
        log.info("measuring %s for the first time", device.name)
        figures = measure(device)
        measured.keep_figures(device, figures)
    return figures


def measure(device: Device) -> DeviceBenchmark:
    """Measure a device; what it cannot run, or fails in, is left at its default."""
    default = DeviceBenchmark()
    image = [1, CHANNELS, WIDTH, WIDTH]
    models: dict[str, tuple[list[int], Callable[[Parameter], Node]]] = {
        "one": ([16], ops.Relu),
        "product": ([1, 16], lambda x: _products(x, 16, 1)),
        "products": ([1, 16], lambda x: _products(x, 16, CHAIN)),
        "large product": ([SIZE, SIZE], lambda x: _products(x, SIZE, 1)),
        "convolution": (image, _convolution),
        "inside": ([1], lambda x: _maximum(ops.Add(x, np.zeros(LARGE, np.float32)))),
        "up": ([LARGE], _maximum),
        "down": ([1], lambda x: ops.Add(x, np.zeros(LARGE, np.float32))),
    }
    seconds = _measure_in_turn({name: _request(device, *model) for name, model in models.items()})
    one, launch = seconds["one"], (seconds["products"] - seconds["product"]) / (CHAIN - 1)
    launch = default.launch if math.isnan(launch) else max(launch, 1e-7)
    subgraph = default.subgraph if math.isnan(one) else max(one - launch, 1e-7)
    # The constant is read, the sum is written, and read to find its maximum.
    of_bytes = _rate(3 * 4 * LARGE, seconds["inside"] - one, default.bytes)
    upload = _rate(4 * LARGE, seconds["up"] - one - 4 * LARGE / of_bytes, default.upload)
    download = _rate(4 * LARGE, seconds["down"] - one - 2 * 4 * LARGE / of_bytes, default.download)
    both_ways = 4 * (1 / upload + 1 / download)
    product = seconds["large product"] - one - SIZE * SIZE * both_ways
    operations = _rate(2 * SIZE**3, product, default.operations)
    convolution = seconds["convolution"] - one - math.prod(image) * both_ways
    convolutions = _rate(2 * math.prod(image) * CHANNELS * 9, convolution, operations)
    return DeviceBenchmark(operations, convolutions, of_bytes, upload, download, launch, subgraph)


def _rate(amount: float, seconds: float, default: float) -> float:
    return default if math.isnan(seconds) else amount / max(seconds, amount / FASTEST)


def _request(device: Device, shape: list[int], make: Callable[[Parameter], Node]) -> SyncInferRequest | None:
    """A request of a small model, warmed up; None where the device cannot run it."""
    parameter = Parameter(Type.f32, shape)
    try:
        compiled = device.compile(Model(make(parameter), [parameter], f"measuring {device.name}"))
        request = compiled.create_sync_infer_request()
        request.set_tensor(compiled.inputs[0], Tensor(np.full(shape, 0.5, np.float32)))
        request.infer()
    except Exception as error:
        log.debug("%s could not be measured: %s", device.name, error)
        return None
    return request


def _measure_in_turn(requests: Mapping[str, SyncInferRequest | None]) -> dict[str, float]:
    """The seconds of one inference of each, the best of several rounds, so that what else runs disturbs all alike.

    The rounds end when the best three of each agree, or it has taken long enough.
    """
    seconds: dict[str, list[float]] = {name: [] for name, request in requests.items() if request is not None}
    began = time.perf_counter()
    for index in range(MOST_ROUNDS):
        for name, taken in [*seconds.items()]:
            try:
                requests[name].infer()  # to wake what has gone to sleep
                started = time.perf_counter()
                requests[name].infer()
            except DeviceError as error:
                log.debug("'%s' could not be measured: %s", name, error)
                del seconds[name]
                continue
            taken.append(time.perf_counter() - started)
        agreed = all(sorted(taken)[2] < AGREED * min(taken) for taken in seconds.values()) if index > 1 else False
        if agreed or time.perf_counter() - began > MOST_SECONDS:
            break
    return {name: min(seconds.get(name, [math.nan])) for name in requests}


def _products(x: Parameter, size: int, count: int) -> Node:
    value: Node = x
    matrix = np.eye(size, dtype=np.float32)
    for _ in range(count):
        value = ops.MatMul(value, matrix, False, False)
    return value


def _convolution(x: Parameter) -> Node:
    filters = np.full([CHANNELS, CHANNELS, 3, 3], 0.01, np.float32)
    return ops.Convolution(x, filters, [1, 1], [1, 1], [1, 1], [1, 1])


def _maximum(value: Node) -> Node:
    return ops.ReduceMax(value, np.int64([0]), True)
