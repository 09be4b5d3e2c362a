"""Built programs: the kernels of a program on a device."""

from __future__ import annotations

import pyopencl as cl

from hetero.system.errors import DeviceError
from hetero_opencl.device.caches import BinaryCache, make_kernel
from hetero_opencl.device.device import OpenCLDevice, opencl_errors
from hetero_opencl.device.launch import Buffer, Launch
from hetero_opencl.lowering.program import KernelProgram


class BuiltProgram:
    """A program whose kernels are built, and whose constants are uploaded."""

    def __init__(self, program: KernelProgram, device: OpenCLDevice, binaries: BinaryCache) -> None:
        """Raises DeviceError if a kernel does not build, or a constant cannot be uploaded."""
        self.program, self.device = program, device
        #: The OpenCL program of each command.
        self.built = device.build(program.commands, binaries)
        for launch, built in zip(program.commands, self.built):
            # Intel's runtime translates a kernel when the first one is made of it, which takes milliseconds.
            kernel = _make_kernel(device, launch, built)
            if launch.origin:
                _check_custom_kernel(launch, kernel)
        memory = [constant.memory for constant in program.constants()]  # raises the error of an upload
        self.constant_bytes = sum(buffer.size for buffer in memory if buffer)

    def make_kernels(self) -> list[cl.Kernel]:
        """Return a new kernel for each command, with the arguments set that are constants and numbers."""
        kernels = [_make_kernel(self.device, *pair) for pair in zip(self.program.commands, self.built)]
        with opencl_errors(lambda: f"setting the arguments of {launch.operation} on {self.device.full_name}"):
            for launch, kernel in zip(self.program.commands, kernels):
                for index, argument in enumerate(launch.arguments):
                    if not isinstance(argument, Buffer):
                        # 0.2 µs as for a buffer; set_arg takes 8 µs for a number, as it tries other kinds first.
                        kernel._set_arg_buf(index, argument.tobytes())  # type: ignore[attr-defined]  # not in the stub
                    elif argument.memory is not None:
                        kernel.set_arg(index, argument.memory)
        return kernels


def _make_kernel(device: OpenCLDevice, launch: Launch, built: cl.Program) -> cl.Kernel:
    with opencl_errors(f"making the kernel of {launch.operation} on {device.full_name}"):
        return make_kernel(built, launch.kernel)


def _check_custom_kernel(launch: Launch, kernel: cl.Kernel) -> None:
    """Raise DeviceError if the kernel takes a different number of arguments than the launch."""
    if kernel.num_args != len(launch.arguments):
        takes = f"takes {kernel.num_args} arguments, but is given {len(launch.arguments)}"
        raise DeviceError(f"the kernel {launch.kernel} of {launch.operation} {takes}")
