"""Time of the kernels of a model on an OpenCL device, and how near to the limits of the device they are.

``python -m tests.benchmarks.kernels MODEL [DEVICE]`` prints a row for each kernel of an implementation, for a model of
the zoo. The limit is the time that the device needs at least, at its measured limits: for the arithmetic, or for the
bytes if these take longer. It is printed as a share of the time of the kernel, and is exceeded if the bytes are in the
caches. Kernels in the bodies of loops are not included.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from hetero_opencl.lowering.implementation import KernelOperation
from hetero_opencl.lowering.program import KernelProgram
from hetero_opencl.plugin import OpenCLPlugin
from rich.box import SIMPLE_HEAD
from rich.table import Table

from hetero import CompiledModel, Core, InferRequest, ops
from hetero.graph import Node, constant_array
from hetero.ops.work_estimate import Work, assumed_shapes, model_work, work_of
from hetero.plugin.requests.profiling import STAGE
from hetero.run.display import make_console
from tests import zoo
from tests.benchmarks import batched_models
from tests.benchmarks.device_limits import DeviceLimits
from tests.benchmarks.engines import EXTENSIONS
from tests.devices import GPUS

# The time of a measurement, which models that take longer than a tenth of a second exceed, because the minimum of fewer
# inferences is not yet the same each time.
SECONDS, INFERENCES = 5.0, 50
# Kernels that convert the inputs of a node to another layout.
CONVERSIONS = ("rows_to_blocks", "blocks_to_rows")


@dataclass
class Family:
    """All launches of a kernel by an implementation. The last two are the times at the limits of the device."""

    launches: int = 0
    seconds: float = 0.0
    operations: float = 0.0
    bytes: float = 0.0
    arithmetic_seconds: float = 0.0
    memory_seconds: float = 0.0


# By the names of the implementation and the kernel.
Families = dict[tuple[str, str], Family]


class Account(NamedTuple):
    """The kernels of an inference, the seconds of an inference, and the limits of the device."""

    families: Families
    inference_seconds: float
    limits: DeviceLimits


def kernel_times(request: InferRequest) -> list[float]:
    """Return the seconds of the launches in the last inference of a profiled request, in order."""
    infos = [info for info in request.profiling_info if info.node_type != STAGE and info.exec_type != "host"]
    return [info.real_time.total_seconds() for info in infos]


def account_of(name: str, device: str) -> Account:
    """Measure a model of the zoo: the inference whose kernels take least, and the shortest inference unprofiled."""
    core = Core()
    core.add_extension(EXTENSIONS)
    model, feeds = core.read_model(zoo.path(name)), batched_models.inputs(name, 1)
    # The programs are known to the plugin's own class only.
    compiled = OpenCLPlugin().compile_model(model.clone(), {"DEVICE_ID": device.partition(".")[2], "PERF_COUNT": True})
    plain = core.compile_model(model, device).create_infer_request()
    profiled = CompiledModel(compiled).create_infer_request()
    limits, inferences, times = DeviceLimits(compiled.device), [], []
    end = time.perf_counter() + SECONDS
    while len(times) < INFERENCES or time.perf_counter() < end:
        limits.sample()
        plain.infer(feeds, share_inputs=True, share_outputs=True)  # the sample has emptied the caches
        started = time.perf_counter()
        plain.infer(feeds, share_inputs=True, share_outputs=True)
        inferences.append(time.perf_counter() - started)
        profiled.infer(feeds, share_inputs=True, share_outputs=True)
        times.append(kernel_times(profiled))
    return Account(_families(compiled.last_programs(), min(times, key=sum), limits), min(inferences), limits)


def _families(programs: Sequence[KernelProgram], seconds: Sequence[float], limits: DeviceLimits) -> Families:
    """Return the families of the launches of programs, which took these seconds."""
    families: Families = {}
    remaining = iter(seconds)
    for program in programs:
        chosen = program.lowering_report.chosen
        times = [next(remaining) for _ in program.launches]
        for at, (node, work) in _work_of_launches(program, times).items():
            implementation = chosen[node].implementation.name if node in chosen else "input"
            family = families.setdefault((implementation, program.launches[at].kernel), Family())
            family.launches += 1
            family.seconds += times[at]
            family.operations += work.operations
            family.bytes += work.bytes
            arithmetic, memory = work.operations / limits.flops_per_second, work.bytes / limits.bytes_per_second
            if arithmetic > memory:
                family.arithmetic_seconds += arithmetic
            else:
                family.memory_seconds += memory
    return families


def _work_of_launches(program: KernelProgram, seconds: Sequence[float]) -> dict[int, tuple[Node, Work]]:
    """Return the node and the work of each launch, by index.

    The arithmetic of a node counts for its longest launch but conversions. The bytes are those of all buffers of a
    launch.
    """
    shapes = assumed_shapes(program.model)
    nodes = {node.friendly_name: node for node in program.model.get_ordered_ops()}
    launches_of: dict[str, list[int]] = {}
    for at, launch in enumerate(program.launches):
        launches_of.setdefault(launch.node_name, []).append(at)
    works = {}
    for name, indices in launches_of.items():
        node = nodes[name]
        work = model_work(node.body) if isinstance(node, ops.Fused) else work_of(node, shapes)
        operations = work.operations * _share_of_products(KernelOperation(node).anchor)
        longest = max(indices, key=lambda at: (program.launches[at].kernel not in CONVERSIONS, seconds[at]))
        for at in indices:
            byte_size = sum(buffer.byte_size for buffer in set(program.launches[at].buffers()))
            if len(indices) == 1 and not isinstance(node, ops.Fused):
                byte_size = min(byte_size, work.bytes)  # of an operation that reads only a part
            works[at] = node, Work(operations if at == longest else 0.0, byte_size)
    return works


def _share_of_products(node: Node | None) -> float:
    """Return the share of the products of a convolution whose filter element is not zero, as between merged groups."""
    if not isinstance(node, ops.Convolution | ops.GroupConvolution):
        return 1.0
    filters = constant_array(node.input_value(1))
    return 1.0 if filters is None else np.count_nonzero(filters) / filters.size


def make_table(account: Account) -> Table:
    """Return a table of the families, those that take longest first."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for column in ("implementation", "kernel"):
        table.add_column(column, overflow="fold")
    for column in ("launches", "ms", "share", "GFLOP/s", "GB/s", "limit", ""):
        table.add_column(column, justify="left" if not column else "right")
    total = Family()
    for family in account.families.values():
        for key, value in vars(family).items():
            setattr(total, key, getattr(total, key) + value)
    for names, family in sorted(account.families.items(), key=lambda item: -item[1].seconds):
        table.add_row(*names, *_cells(family, total.seconds))
    table.add_section()
    table.add_row("all kernels", "", *_cells(total, total.seconds))
    return table


def _cells(family: Family, total: float) -> Iterator[str]:
    yield str(family.launches)
    yield f"{family.seconds * 1e3:.3f}"
    yield f"{family.seconds / total:.1%}"
    yield f"{family.operations / family.seconds / 1e9:.1f}"
    yield f"{family.bytes / family.seconds / 1e9:.1f}"
    yield f"{(family.arithmetic_seconds + family.memory_seconds) / family.seconds:.0%}"
    yield "arithmetic" if family.arithmetic_seconds > family.memory_seconds else "memory"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.kernels")
    parser.add_argument("model", choices=zoo.MODELS, metavar="MODEL", help="a model of the zoo")
    parser.add_argument("device", choices=GPUS, nargs="?", default=GPUS[0], metavar="DEVICE", help=", ".join(GPUS))
    options = parser.parse_args()
    account = account_of(options.model, options.device)
    console, full_name = make_console(), Core().get_property(options.device, "FULL_DEVICE_NAME")
    flops, byte_rate = account.limits.flops_per_second, account.limits.bytes_per_second
    console.print(f"{options.model} on {full_name}")
    console.print(f"limits: {flops / 1e9:.0f} GFLOP/s of f32, {byte_rate / 1e9:.1f} GB/s")
    console.print(make_table(account))
    kernels = sum(family.seconds for family in account.families.values())
    # Profiled launches are not merged, so that an inference may take less than its kernels do alone.
    console.print(
        f"an inference {account.inference_seconds * 1e3:.3f} ms, kernels by themselves {kernels * 1e3:.3f} ms"
    )


if __name__ == "__main__":
    main()
