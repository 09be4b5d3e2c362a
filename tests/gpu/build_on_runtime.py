"""Build the programs of the zoo and a decoder on the OpenCL runtime of on_runtime.py, and print how many there are.

Ends with an error if a program does not build, or a kernel cannot be launched with the sizes that it has.
"""

from __future__ import annotations

import itertools
import math

import pyopencl as cl
from hetero_opencl.device.caches import make_kernel
from hetero_opencl.device.device import present_devices
from hetero_opencl.device.launch import Launch
from hetero_opencl.estimate.lower_for_profile import lower_for_profile

from hetero.system.errors import UnsupportedOperationError
from tests.gpu import on_runtime, programs


def launches() -> dict[str, Launch]:
    """Return a launch of each program, by its text."""
    found = {}
    profile = present_devices().usable[0].profile
    for example in itertools.chain(programs.zoo_models(), programs.decoders()):
        try:
            program = lower_for_profile(example.model, profile, example.inputs)
        except UnsupportedOperationError:  # f64
            continue
        found |= {launch.source: launch for launch in program.commands}
    return found


def main() -> None:
    (device,) = present_devices().usable
    assert device.handle.platform.name.strip() == on_runtime.OPTIONS.platform
    found = launches()
    built = device.compile(list(found.values()))
    errors = [str(result) for result in built.values() if isinstance(result, Exception)]
    for source, result in built.items():
        if isinstance(result, cl.Program):
            launch = found[source]
            kernel = make_kernel(result, launch.kernel)
            most = kernel.get_work_group_info(cl.kernel_work_group_info.WORK_GROUP_SIZE, device.handle)
            if kernel.num_args != len(launch.arguments) or math.prod(launch.local_size or ()) > most:
                errors.append(f"{launch.operation}: kernel {launch.kernel} takes groups of {most}")
    print(len(built))
    if errors:
        raise SystemExit("\n".join(errors))


if __name__ == "__main__":
    main()
