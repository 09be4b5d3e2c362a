"""Benchmark of a device: its throughput and overheads, measured with a few small models."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from hetero import ops
from hetero.core.tensor import Tensor
from hetero.core.types import Type
from hetero.dispatch.devices import ListedDevice
from hetero.graph import Model, Node, Parameter
from hetero.plugin import SyncInferRequest
from hetero.system.errors import HeteroError, device_errors
from hetero.system.messages import get_logger

log = get_logger("hetero.dispatch")

# Rows of the square matrices of the gemm, operations of the chain, and elements of a large value.
SIZE = 512
CHAIN = 16
LARGE = 2**22
# Channels and width of the convolution's image, as in the middle of a network.
CHANNELS, WIDTH = 64, 56
# Rounds of measuring, their time limit in seconds, and the ratio within which the best three times must agree.
MAX_ROUNDS, MAX_SECONDS = 50, 3.0
AGREEMENT = 1.1
# The highest rate that is reported, operations or bytes a second: faster is lost in the noise.
MAX_RATE = 1e14


@dataclass(frozen=True)
class DeviceBenchmark:
    """Throughput and overheads of a device; the defaults are for a device that cannot be measured."""

    operations: float = 2e10  # arithmetic operations a second, in a gemm
    convolutions: float = 2e10  # arithmetic operations a second, in a convolution
    bytes: float = 5e9  # bytes a second that element-wise operations read and write
    upload: float = 5e9  # bytes a second from the host to the device
    download: float = 5e9  # bytes a second from the device to the host
    launch: float = 1e-5  # seconds of one more operation
    subgraph: float = 1e-4  # seconds of one more subgraph


def measure(device: ListedDevice) -> DeviceBenchmark:
    """Benchmark a device. A value that it cannot measure, or fails at, keeps its default."""
    default = DeviceBenchmark()
    image = [1, CHANNELS, WIDTH, WIDTH]
    models: dict[str, tuple[list[int], Callable[[Parameter], Node]]] = {
        "one": ([16], ops.Relu),
        "gemm": ([1, 16], lambda x: _gemms(x, 16, 1)),
        "gemms": ([1, 16], lambda x: _gemms(x, 16, CHAIN)),
        "large gemm": ([SIZE, SIZE], lambda x: _gemms(x, SIZE, 1)),
        "convolution": (image, _convolution),
        "inside": ([1], lambda x: _maximum(ops.Add(x, np.zeros(LARGE, np.float32)))),
        "up": ([LARGE], _maximum),
        "down": ([1], lambda x: ops.Add(x, np.zeros(LARGE, np.float32))),
    }
    seconds = _measure_interleaved({name: _request(device, *model) for name, model in models.items()})
    one, launch = seconds["one"], (seconds["gemms"] - seconds["gemm"]) / (CHAIN - 1)
    launch = default.launch if math.isnan(launch) else max(launch, 1e-7)
    subgraph = default.subgraph if math.isnan(one) else max(one - launch, 1e-7)
    # The constant is read, the sum is written, and read again to find its maximum.
    of_bytes = _rate(3 * 4 * LARGE, seconds["inside"] - one, default.bytes)
    upload = _rate(4 * LARGE, seconds["up"] - one - 4 * LARGE / of_bytes, default.upload)
    download = _rate(4 * LARGE, seconds["down"] - one - 2 * 4 * LARGE / of_bytes, default.download)
    both_ways = 4 * (1 / upload + 1 / download)
    gemm = seconds["large gemm"] - one - SIZE * SIZE * both_ways
    operations = _rate(2 * SIZE**3, gemm, default.operations)
    convolution = seconds["convolution"] - one - math.prod(image) * both_ways
    convolutions = _rate(2 * math.prod(image) * CHANNELS * 9, convolution, operations)
    return DeviceBenchmark(operations, convolutions, of_bytes, upload, download, launch, subgraph)


def _rate(amount: float, seconds: float, default: float) -> float:
    return default if math.isnan(seconds) else amount / max(seconds, amount / MAX_RATE)


def _request(device: ListedDevice, shape: list[int], build: Callable[[Parameter], Node]) -> SyncInferRequest | None:
    """Return a request of a small model after a first inference; None if the device cannot run it."""
    parameter = Parameter(Type.f32, shape)
    try:
        with device_errors(f"{device.name} failed to run a small model"):
            compiled = device.compile(Model(build(parameter), [parameter], f"measuring {device.name}"))
            request = compiled.create_sync_infer_request()
            request.set_tensor(compiled.inputs[0], Tensor(np.full(shape, 0.5, np.float32)))
            request.infer()
    except HeteroError as error:
        log.debug("%s could not be measured: %s", device.name, error)
        return None
    return request


def _measure_interleaved(requests: Mapping[str, SyncInferRequest | None]) -> dict[str, float]:
    """Return the best time of one inference of each request, in seconds; NaN for a request that is None or fails.

    Requests are interleaved so that other load disturbs all alike. Measuring ends when the best three times of each
    request agree, or at the time limit.
    """
    running = {name: request for name, request in requests.items() if request is not None}
    seconds: dict[str, list[float]] = {name: [] for name in running}
    began = time.perf_counter()
    for index in range(MAX_ROUNDS):
        for name, times in [*seconds.items()]:
            try:
                running[name].infer()  # wakes threads that sleep
                started = time.perf_counter()
                running[name].infer()
            except HeteroError as error:
                log.debug("'%s' could not be measured: %s", name, error)
                del seconds[name]
                continue
            times.append(time.perf_counter() - started)
        agree = index > 1 and all(sorted(times)[2] < AGREEMENT * min(times) for times in seconds.values())
        if agree or time.perf_counter() - began > MAX_SECONDS:
            break
    return {name: min(seconds.get(name, [math.nan])) for name in requests}


def _gemms(x: Parameter, size: int, count: int) -> Node:
    value: Node = x
    matrix = np.eye(size, dtype=np.float32)
    for _ in range(count):
        value = ops.MatMul(value, matrix, False, False)
    return value


def _convolution(x: Parameter) -> Node:
    filters = np.full([CHANNELS, CHANNELS, 3, 3], 0.01, np.float32)
    return ops.Convolution(x, filters, [1, 1], [1, 1], [1, 1], [1, 1])


def _maximum(value: Node) -> Node:
    return ops.ReduceMax(value, np.array([0], np.int64), True)
