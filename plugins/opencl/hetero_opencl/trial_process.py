"""The child process that tries a device: runs small models, compares them with numpy, and times a gemm."""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from hetero import Core, Model, Node, Parameter, Type
from hetero import opset16 as ops
from hetero.errors import DeviceError
from hetero_opencl.device import OpenCLDevice
from hetero_opencl.platforms import find_device
from hetero_opencl.plugin import OpenCLPlugin
from hetero_opencl.trial import Verdict

# The size of the square matrices of the timed gemm, and the number of runs. The shortest time counts, because other
# programs may disturb some runs.
SIZE, RUNS = 512, 20


@dataclass(frozen=True)
class Case:
    """A small graph, its formula in numpy, and the types and shapes of its inputs."""

    graph: Callable[..., Node]
    formula: Callable[..., np.ndarray]
    inputs: tuple[tuple[Type, tuple[int, ...]], ...]


def _convolve(x: np.ndarray, weights: np.ndarray) -> np.ndarray:
    windows = sliding_window_view(np.pad(x, [(0, 0), (0, 0), (1, 1), (1, 1)]), (3, 3), axis=(2, 3))
    return np.maximum(np.einsum("nchwij,ocij->nohw", windows, weights), 0)


def _softmax(x: np.ndarray) -> np.ndarray:
    powers = np.exp(x - x.max(1, keepdims=True))
    return powers / powers.sum(1, keepdims=True)


CASES = {
    "a matrix product": Case(
        lambda a, b: ops.matmul(a, b, False, False),
        np.matmul,
        ((Type.f32, (SIZE, SIZE)), (Type.f32, (SIZE, SIZE))),
    ),
    "a convolution": Case(
        lambda x, w: ops.relu(ops.convolution(x, w, [1, 1], [1, 1], [1, 1], [1, 1])),
        _convolve,
        ((Type.f32, (1, 16, 14, 14)), (Type.f32, (32, 16, 3, 3))),
    ),
    "sums of rows": Case(lambda x: ops.reduce_sum(x, 1), lambda x: x.sum(1), ((Type.f32, (8, 1000)),)),
    "sums of columns": Case(lambda x: ops.reduce_sum(x, 0), lambda x: x.sum(0), ((Type.f32, (40, 96)),)),
    "a softmax": Case(lambda x: ops.softmax(x, 1), _softmax, ((Type.f32, (6, 100)),)),
    "a choice": Case(
        lambda a, b: ops.select(ops.greater(a, b), ops.exp(a), ops.tanh(b)),
        lambda a, b: np.where(a > b, np.exp(a), np.tanh(b)),
        ((Type.f32, (7, 33)), (Type.f32, (7, 33))),
    ),
    "arithmetic of i32": Case(
        lambda a, b: ops.add(ops.divide(a, b), ops.multiply(a, b)),
        lambda a, b: a // b + a * b,
        ((Type.i32, (130,)), (Type.i32, (130,))),
    ),
    "sums of i64": Case(lambda x: ops.reduce_sum(x, 0), lambda x: x.sum(0), ((Type.i64, (300, 3)),)),
    "arithmetic of u8": Case(lambda a: ops.multiply(a, a), lambda a: a * a, ((Type.u8, (130,)),)),
    "arithmetic of f64": Case(lambda a: ops.exp(a), np.exp, ((Type.f64, (50,)),)),
}


def run_trial(identity: list[str | int]) -> None:
    """Try the device with this identity, and write the verdict as JSON to the standard output."""
    output = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # drivers that print to the standard output now print to the standard error
    print(json.dumps(asdict(_verdict(identity))), file=output, flush=True)


def _verdict(identity: list[str | int]) -> Verdict:
    device = OpenCLDevice(find_device(identity), builds_in_process=True)
    core = Core()
    core.register_plugin(lambda: OpenCLPlugin([device]), "TRIAL")
    wrong, gemm = [], None
    with tempfile.TemporaryDirectory() as folder:
        for name, case in CASES.items():
            if Type.f64 in dict(case.inputs) and not device.has_doubles:
                continue
            parameters = [Parameter(kind, shape) for kind, shape in case.inputs]
            arrays = [_random(kind, shape) for kind, shape in case.inputs]
            model = Model(case.graph(*parameters), parameters, name)
            try:
                request = core.compile_model(model, "TRIAL", {"CACHE_DIR": folder}).create_infer_request()
                result, expected = request.infer(arrays)[0], case.formula(*arrays)
            except DeviceError as error:
                return Verdict(str(error))
            if not np.allclose(result, expected, rtol=1e-4, atol=1e-4 * np.abs(expected).max()):
                wrong.append(name)
            gemm = gemm or partial(request.infer, arrays)  # of the first case
        if wrong:
            return Verdict(f"it computes {', '.join(wrong)} wrongly")
        return Verdict("", 2e-9 * SIZE**3 / min(_seconds(gemm) for _ in range(RUNS)))


def _random(kind: Type, shape: tuple[int, ...]) -> np.ndarray:
    generator = np.random.default_rng(0)
    dtype = kind.to_dtype()
    return (generator.integers(1, 100, shape) if dtype.kind in "iu" else generator.standard_normal(shape)).astype(dtype)


def _seconds(run: Callable[[], object]) -> float:
    started = time.perf_counter()
    run()
    return time.perf_counter() - started
