"""Lowering of user-defined operations that supply kernels in ``opencl_kernels``; see custom.py."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from hetero.graph import Input, Node, Op, Output, describe_failure
from hetero.system.errors import DeviceError
from hetero_opencl.kernels.common.registry import custom_unsupported_reason, lowers_if
from hetero_opencl.kernels.common.sources import element_macros, unsupported_types
from hetero_opencl.lowering.custom import Scratch, has_custom_kernels
from hetero_opencl.lowering.lowering import Argument, Lowering
from hetero_opencl.lowering.program import Buffer


def _unsupported(node: Node) -> str | None:
    return unsupported_types(node) or custom_unsupported_reason(node)


@lowers_if(has_custom_kernels, unsupported=_unsupported)
def custom_kernels(lowering: Lowering, node: Op) -> None:
    dynamic = [output for output in node.outputs() if output.partial_shape.is_dynamic]
    if dynamic:
        node.fail(f"custom kernels need static output shapes, but an output has the shape {dynamic[0].partial_shape}")
    scratch: dict[Scratch, Buffer] = {}
    try:
        kernels = cast(Any, node).opencl_kernels()
    except Exception as error:
        raise DeviceError(describe_failure(node, "opencl_kernels", error)) from error
    for kernel in kernels:
        arguments = [_argument(lowering, node, argument, scratch) for argument in kernel.arguments]
        source = f"{element_macros(kernel.types)}#line 1\n{kernel.source}"  # line numbers as in the author's source
        lowering.launch(source, kernel.name, arguments, kernel.global_size, kernel.local_size)


def _argument(lowering: Lowering, node: Op, value: Any, scratch: dict[Scratch, Buffer]) -> Argument:
    if isinstance(value, (Output, np.generic, int)):
        return value
    if isinstance(value, Input):
        return value.get_source_output()
    if isinstance(value, Scratch):
        if value not in scratch:
            scratch[value] = lowering.scratch(value.count, value.element_type.size)
        return scratch[value]
    if isinstance(value, np.ndarray):
        return lowering.constant(value)
    if isinstance(value, float):
        return np.float32(value)
    node.fail(f"{value!r} cannot be the argument of a kernel; pass an input, output, Scratch, array or number")
