"""Lower a model of static shapes to a program."""

from __future__ import annotations

from hetero.errors import UnsupportedOperationError
from hetero.graph import Constant, Model, Parameter, Result
from hetero.passes import align_prelu_slopes, fuse_elementwise
from hetero_opencl.binary_cache import BinaryCache
from hetero_opencl.constants import Constants
from hetero_opencl.device import OpenCLDevice
from hetero_opencl.fusion import FUSION_RULES
from hetero_opencl.kernels import find_lowering
from hetero_opencl.lowering import Lowering
from hetero_opencl.operation import Operation
from hetero_opencl.program import Program
from hetero_opencl.segments import is_container


def lower_model(model: Model, device: OpenCLDevice, constants: Constants, binaries: BinaryCache) -> Program:
    """Return the program of a model whose shapes are all static."""
    align_prelu_slopes(model)  # those of data whose rank was unknown before
    fuse_elementwise(model, FUSION_RULES)
    lowering = Lowering(device, constants)
    for node in model.get_ordered_ops():
        if isinstance(node, (Parameter, Constant, Result)):
            continue
        operation = Operation(node)
        function = find_lowering(operation.main)
        if function is None:
            raise UnsupportedOperationError(f"{operation.type_name} '{operation.name}' has no OpenCL kernel")
        lowering.lower(operation, function)
    results = [result.input_value(0) for result in model.results if not is_container(result)]
    return Program(
        device,
        model,
        lowering.steps,
        lowering.launches,
        [lowering.buffer(parameter.output(0)) for parameter in model.parameters if not is_container(parameter)],
        [lowering.buffer(value) for value in results],
        [None if value in lowering.shape_buffers else value.shape for value in results],
        {i: lowering.shape_buffers[value] for i, value in enumerate(results) if value in lowering.shape_buffers},
        binaries,
        lowering.report(),
    )
