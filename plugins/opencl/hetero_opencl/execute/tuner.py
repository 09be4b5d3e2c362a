"""Measurement of the implementations and configurations that the operations of a model have."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from hetero_opencl.compile.built_program import BuiltProgram
from hetero_opencl.device.caches import BinaryCache
from hetero_opencl.execute.bound_program import BoundProgram
from hetero_opencl.execute.remote import OpenCLContext
from hetero_opencl.execute.workspace import Workspace
from hetero_opencl.kernels import implementations_of
from hetero_opencl.kernels.common.layout_conversion import convert
from hetero_opencl.lowering.constants import Constants
from hetero_opencl.lowering.implementation import Choice, KernelOperation, candidates_of
from hetero_opencl.lowering.lowering import Lowering, LoweringReport
from hetero_opencl.lowering.program import KernelProgram
from hetero_opencl.lowering.tuning import Measurement, Tuning, operation_key

# Candidates run in turn, ROUNDS times for at least MEASURED_SECONDS each if that takes at most MAX_RUNS runs; the
# shortest time counts.
ROUNDS, MEASURED_SECONDS, MAX_RUNS = 5, 3e-3, 200


def measure_operations(
    programs: Sequence[KernelProgram],
    context: OpenCLContext,
    binaries: BinaryCache,
    tuning: Tuning,
    progress: Callable[[str, int, int], None] | None = None,
) -> None:
    """Measure all operations of these programs, and add the results to ``tuning``.

    Operations that can run in one way only, and those that were measured before, are left out. ``progress`` is called
    with the operation, the number of those done, and that of all.
    """
    entries: dict[str, tuple[KernelOperation, KernelProgram, list[list[Choice]]]] = {}
    for program in programs:
        for step in program.steps:
            operation = KernelOperation(step.node)
            key = operation_key(operation)
            if key not in tuning.measurements and key not in entries:
                candidates = candidates_of(operation, implementations_of(operation.main), context.device.profile)
                entries[key] = operation, program, list(candidates)
    measured = {key: entry for key, entry in entries.items() if sum(map(len, entry[2])) > 1}
    for done, (key, (operation, program, groups)) in enumerate(measured.items()):
        if progress:
            progress(f"{operation.type_name} '{operation.name}'", done, len(measured))
        seconds = _measure(program, context, binaries, operation, [choice for group in groups for choice in group])
        tuning.measurements[key] = {group[0].key: _best(group, seconds) for group in groups}


def _best(choices: Sequence[Choice], seconds: dict[int, float]) -> Measurement:
    best = min(choices, key=lambda choice: seconds[id(choice)])
    return Measurement(best.configuration, seconds[id(best)])


def _measure(
    program: KernelProgram,
    context: OpenCLContext,
    binaries: BinaryCache,
    operation: KernelOperation,
    candidates: Sequence[Choice],
) -> dict[int, float]:
    """Return the seconds of each candidate for an operation of a program."""
    constants = Constants(context.device.upload)
    lowerings = [_lower(constants, context, operation, choice) for choice in candidates]
    # Kept until all programs have it: together they are built in parallel.
    commands = [[launch.with_declared_size() for launch in lowering.launches] for lowering in lowerings]
    built = context.device.build([launch for several in commands for launch in several], binaries)
    workspace = Workspace(context, profiled=False)
    bound = []
    for lowering, launches in zip(lowerings, commands):
        alone = KernelProgram(
            program.profile, program.model, lowering.steps, launches, launches, [], [], [], {},
            lowering.finished_report(),
        )  # fmt: skip
        bound.append(BoundProgram(BuiltProgram(alone, context.device, binaries), workspace))
    del built
    seconds = dict.fromkeys(map(id, candidates), float("inf"))
    for _ in range(ROUNDS):
        for choice, bound_program in zip(candidates, bound):
            seconds[id(choice)] = min(seconds[id(choice)], _seconds(bound_program))
    return seconds


def _lower(constants: Constants, context: OpenCLContext, operation: KernelOperation, choice: Choice) -> Lowering:
    """Return the lowering of one operation, whose inputs are in the layouts that it reads."""
    node = operation.node
    layouts = dict(zip(node.input_values(), choice.signature.inputs))
    layouts |= dict.fromkeys(node.outputs(), choice.signature.output)
    lowering = Lowering(context.device.profile, constants, layouts, {}, convert, LoweringReport())
    lowering.lower(operation, choice)
    return lowering


def _seconds(bound: BoundProgram) -> float:
    """Return the time of a run, in a sequence of runs."""

    def run(count: int) -> float:
        started = time.perf_counter()
        for _ in range(count):
            bound.launch(lambda: None)
            bound.launch_rest()
        bound.finish()
        return (time.perf_counter() - started) / count

    bound.bind([], [])
    once = run(1)
    return run(max(1, min(MAX_RUNS, int(MEASURED_SECONDS / once))))
