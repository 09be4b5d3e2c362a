"""Operations get their next implementation if a driver does not build the kernels of the first one."""

from __future__ import annotations

from hetero.core.lengths.guards import Guards
from hetero.graph import Model
from hetero.plugin import get_logger
from hetero.system.errors import DeviceError
from hetero_opencl.compile.built_program import BuiltProgram
from hetero_opencl.compile.lower_model import lower_fused, lower_model
from hetero_opencl.device.caches import BinaryCache
from hetero_opencl.device.device import BuildError, OpenCLDevice
from hetero_opencl.lowering.constants import Constants
from hetero_opencl.lowering.implementation import KernelOperation
from hetero_opencl.lowering.program import KernelProgram
from hetero_opencl.lowering.tuning import Tuning, operation_key

log = get_logger("hetero.opencl")


def lower_and_build(
    model: Model,
    device: OpenCLDevice,
    constants: Constants,
    binaries: BinaryCache,
    tuning: Tuning,
    is_profiled: bool,
    guards: Guards | None = None,
) -> BuiltProgram:
    """Return the built program of a model of static shapes; ``guards`` are those of Lengths in them.

    What does not build is not tried again in this process. Raises DeviceError if an operation has no other
    implementation, or if its kernel is the user's.
    """
    program = lower_model(model, device.profile, constants, tuning, is_profiled, device.failed_choices, guards)
    while True:
        try:
            return BuiltProgram(program, device, binaries)
        except BuildError as error:
            # Each operation of a merged launch has to be judged alone.
            was_merged = any(launch.parts for launch, _ in error.launches)
            if not was_merged and not _leave_out(program, device, error):
                raise DeviceError(str(error)) from error
            is_profiled |= was_merged
        program = lower_fused(model, device.profile, constants, tuning, is_profiled, device.failed_choices, guards)


def _leave_out(program: KernelProgram, device: OpenCLDevice, error: BuildError) -> bool:
    """Leave out the implementations whose launches do not build. Return False if an operation has no other one."""
    report = program.lowering_report
    nodes = {node.friendly_name: node for node in report.chosen}
    failed = {nodes[launch.node_name]: (launch, reason) for launch, reason in error.launches}
    if any(launch.origin or len(report.choices[node]) < 2 for node, (launch, _) in failed.items()):
        return False
    for node, (launch, reason) in failed.items():
        choice, key = report.chosen[node], operation_key(KernelOperation(node))
        name = choice.implementation.name
        if not any(other.split(":")[0] == name for _, other in device.failed_choices):
            log.warning("%s: the next implementation takes the place of %s, kernel %s", reason, name, launch.kernel)
        device.failed_choices.add((key, choice.key))
    return True
