"""Tries a device in a child process: runs small models, compares them with the reference, and times a gemm."""

from __future__ import annotations

import tempfile
import timeit
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from hetero import Constant, Core, Model, Node, Parameter, Type, ops
from hetero.errors import DeviceError
from hetero.graph import constant_array
from hetero.passes import fold_constants
from hetero_opencl.device import OpenCLDevice
from hetero_opencl.platforms import find_device
from hetero_opencl.plugin import OpenCLPlugin
from hetero_opencl.trial import Verdict

# The size of the square matrices of the timed gemm, and the number of runs. The shortest time counts, because other
# programs may disturb some runs.
SIZE, RUNS = 512, 20

# Small graphs, and the types and shapes of their inputs. The first one is the timed gemm.
CASES: dict[str, tuple[Callable[..., Node], Sequence[tuple[Type, tuple[int, ...]]]]] = {
    "a matrix product": (
        lambda a, b: ops.MatMul(a, b, False, False),
        [(Type.f32, (SIZE, SIZE)), (Type.f32, (SIZE, SIZE))],
    ),
    "a convolution": (
        lambda x, w: ops.Relu(ops.Convolution(x, w, [1, 1], [1, 1], [1, 1], [1, 1])),
        [(Type.f32, (1, 16, 14, 14)), (Type.f32, (32, 16, 3, 3))],
    ),
    "sums of rows": (lambda x: ops.ReduceSum(x, 1), [(Type.f32, (8, 1000))]),
    "sums of columns": (lambda x: ops.ReduceSum(x, 0), [(Type.f32, (40, 96))]),
    "a softmax": (lambda x: ops.Softmax(x, 1), [(Type.f32, (6, 100))]),
    "a choice": (
        lambda a, b: ops.Select(ops.Greater(a, b), ops.Exp(a), ops.Tanh(b)),
        [(Type.f32, (7, 33)), (Type.f32, (7, 33))],
    ),
    "arithmetic of i32": (
        lambda a, b: ops.Add(ops.Divide(a, b), ops.Multiply(a, b)),
        [(Type.i32, (130,)), (Type.i32, (130,))],
    ),
    "sums of i64": (lambda x: ops.ReduceSum(x, 0), [(Type.i64, (300, 3))]),
    "arithmetic of u8": (lambda a: ops.Multiply(a, a), [(Type.u8, (130,))]),
    "arithmetic of f64": (lambda a: ops.Exp(a), [(Type.f64, (50,))]),
}


def try_device(device_identity: list[str | int]) -> dict[str, Any]:
    """Try the device with this identity; return the fields of the verdict."""
    return asdict(_verdict(OpenCLDevice(find_device(device_identity), builds_in_process=True)))


def _verdict(device: OpenCLDevice) -> Verdict:
    core = Core()
    core.register_plugin(lambda: OpenCLPlugin([device]), "TRIAL")
    wrong, seconds = [], 0.0
    with tempfile.TemporaryDirectory() as folder:
        for name, (graph, inputs) in CASES.items():
            if Type.f64 in dict(inputs) and not device.has_doubles:
                continue
            parameters = [Parameter(kind, shape) for kind, shape in inputs]
            arrays = [_random(kind, shape) for kind, shape in inputs]
            model = Model(graph(*parameters), parameters, name)
            expected = _reference(graph(*map(Constant, arrays)))
            try:
                request = core.compile_model(model, "TRIAL", {"CACHE_DIR": folder}).create_infer_request()
                result = request.infer(arrays)[0]
            except DeviceError as error:
                return Verdict(str(error))
            if not np.allclose(result, expected, rtol=1e-4, atol=1e-4 * np.abs(expected).max()):
                wrong.append(name)
            seconds = seconds or min(timeit.repeat(lambda: request.infer(arrays), number=1, repeat=RUNS))  # noqa: B023
    return Verdict(f"it computes {', '.join(wrong)} wrongly") if wrong else Verdict("", 2e-9 * SIZE**3 / seconds)


def _reference(node: Node) -> np.ndarray:
    """Return the value of a graph of Constants."""
    model = Model(node, [])
    fold_constants(model)
    value = constant_array(model.results[0].input_value(0))
    assert value is not None
    return value


def _random(kind: Type, shape: tuple[int, ...]) -> np.ndarray:
    generator = np.random.default_rng(0)
    dtype = kind.to_dtype()
    return (generator.integers(1, 100, shape) if dtype.kind in "iu" else generator.standard_normal(shape)).astype(dtype)
