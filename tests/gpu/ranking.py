"""The performance model's ranking of kernels against measured times: ``python -m tests.gpu.ranking``.

No GPU is needed: the kernels for GPUs run on the processor, and the model estimates them for a GPU with as many units
as the processor has cores, and a wave for each vector. Its constants are not the processor's, so that only the order of
times is compared, by Spearman's rank correlation; beside it, that of the roofline: the larger of the times of the
operations at the peak and of the inputs' and outputs' bytes at the bandwidth.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from hetero_opencl.compiled_model import OpenCLCompiledModel
from hetero_opencl.device.device import present_devices
from hetero_opencl.estimate.compilers.resources import KernelResources
from hetero_opencl.estimate.compilers.toolchain import VARIABLE
from hetero_opencl.estimate.llvm_ir import compile_to_ir
from hetero_opencl.estimate.performance_model import PerformanceModel
from hetero_opencl.plugin import OpenCLPlugin
from hetero_opencl.profiles.hardware import hardware_of

from hetero import Model, Parameter, Type, ops
from hetero.core.tensor import Tensor
from tests.devices import GPU_LIMITS
from tests.gpu.tools import FOLDER

RUNS = 9
PROCESSOR = replace(
    hardware_of("hd_530"), units=os.cpu_count() or 1, schedulers=1, lanes=16, clock=2.5e9, waves=1, bandwidth=1e10
)
RESOURCES = KernelResources(
    registers=1, spilled_registers=0, scratch_bytes=0, local_bytes=0, wave_width=PROCESSOR.wave, waves=1
)
Shapes = list[tuple[int, ...]]


def cases() -> Iterator[tuple[str, Shapes, Model]]:
    """Yield models of one operation, with the shapes of their inputs. Families have similar amounts of data."""
    for size in (128, 256, 384, 512, 768):
        yield case("gemm", [(size, size), (size, size)])
    for size in (1024, 2048, 3072):
        yield case("gemv", [(size, size), (size, 1)])
    for rows in (256, 1024, 4096):
        yield case("add", [(rows, 1024), (rows, 1024)])
        for name in ("exp", "softmax", "transpose", "sum of rows", "sum of columns"):
            yield case(name, [(rows, 1024)])


def case(name: str, shapes: Shapes) -> tuple[str, Shapes, Model]:
    inputs = [Parameter(Type.f32, list(shape)) for shape in shapes]
    first = inputs[0]
    results = {
        "gemm": lambda: ops.MatMul(*inputs, False, False),
        "gemv": lambda: ops.MatMul(*inputs, False, False),
        "add": lambda: ops.Add(*inputs),
        "exp": lambda: ops.Exp(first),
        "softmax": lambda: ops.Softmax(first, 1),
        "transpose": lambda: ops.Transpose(first, np.array([1, 0])),
        "sum of rows": lambda: ops.ReduceSum(first, np.array([1]), False),
        "sum of columns": lambda: ops.ReduceSum(first, np.array([0]), False),
    }
    return name, shapes, Model(results[name](), inputs)


def measure(model: Model, shapes: Shapes) -> tuple[float, OpenCLCompiledModel]:
    """Return the shortest time of an inference on the first device, and the compiled model."""
    compiled = OpenCLPlugin().compile_model(model, {"DEVICE_ID": "0"})
    assert isinstance(compiled, OpenCLCompiledModel)
    request = compiled.create_sync_infer_request()
    for port, shape in zip(compiled.inputs, shapes):
        request.set_tensor(port, Tensor(np.full(shape, 0.5, np.float32)))
    seconds = []
    for _ in range(RUNS):
        started = time.perf_counter()
        request.infer()
        seconds.append(time.perf_counter() - started)
    return min(seconds), compiled


def correlation(pairs: list[tuple[float, float]]) -> float:
    """Return Spearman's rank correlation. Equal values get the mean of their ranks."""
    values = np.array(pairs).T[:, :, None]
    others = values.transpose(0, 2, 1)
    ranks = (values > others).sum(axis=2) + (values == others).sum(axis=2) / 2
    return float(np.corrcoef(ranks)[0, 1])


def main() -> None:
    os.environ.setdefault(VARIABLE, str(FOLDER))
    for device in present_devices().usable:
        device.profile = replace(device.profile, **GPU_LIMITS)
    performance = PerformanceModel(PROCESSOR, compile_to_ir, lambda source, kernel: RESOURCES)
    measured, estimated, roofline = [], [], []
    for name, shapes, model in cases():
        seconds, compiled = measure(model, shapes)
        launches = [launch for program in compiled.last_programs() for launch in program.launches]
        estimates = [performance.estimate(launch) for launch in launches]
        ends = [buffer for program in compiled.last_programs() for buffer in (*program.inputs, *program.outputs)]
        moved = sum(buffer.byte_size for buffer in ends)
        flops = sum(one.flops for one in estimates)
        measured.append(seconds)
        estimated.append(sum(one.seconds for one in estimates))
        roofline.append(max(flops / PROCESSOR.flops_per_second, moved / PROCESSOR.bandwidth))
        limits = ", ".join(one.limit for one in estimates)
        print(f"{name:15} {shapes[0]!s:14} {seconds * 1e3:9.3f} ms, estimated {estimated[-1] * 1e3:9.3f} ms: {limits}")
    # Those with 4 MiB of input: their order does not follow from their size.
    same = [index for index, (_, shapes, _) in enumerate(cases()) if shapes[0] == (1024, 1024)]
    for title, values in (("the model", estimated), ("the roofline", roofline)):
        pairs = list(zip(measured, values))
        alike = [pairs[index] for index in same]
        print(f"rank correlation of {title}: {correlation(pairs):.2f} for {len(pairs)} operations, ", end="")
        print(f"{correlation(alike):.2f} for the {len(alike)} of 1024 x 1024")


if __name__ == "__main__":
    main()
