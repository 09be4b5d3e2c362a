"""BinaryConvolution: the number of equal elements minus the number of different ones."""

from __future__ import annotations

import math

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.graph import Node
from hetero_opencl.kernels.common.registry import lowers
from hetero_opencl.kernels.common.sources import ELEMENTS, source
from hetero_opencl.kernels.reduction.sums import SUMS
from hetero_opencl.lowering.lowering import Lowering

# 1-bit filters are stored as bytes of 0 and 1.
_FILTERS = {**{kind: kind for kind in ELEMENTS}, Type.u1: Type.u8}


def _unsupported(node: Node) -> str | None:
    data, filters = node.get_input_element_type(0), node.get_input_element_type(1)
    if data in SUMS and filters in _FILTERS:
        return None
    return f"no kernel for {node.type_info.name} of {data} with filters of {filters}"


@lowers(ops.BinaryConvolution, unsupported=_unsupported)
def binary_convolution(lowering: Lowering, node: ops.BinaryConvolution) -> None:
    (image, filters), output = node.input_values(), node.output(0)
    kernel = filters.shape[2:]
    begin, _ = node.resolve_pads(image.shape[2:], kernel)
    sizes = (*image.shape[1:], *output.shape[1:], *kernel, *node.strides, *node.dilations, *begin)
    types = {"DATA": image.element_type, "FILTER": _FILTERS[filters.element_type]}
    # Negative sums wrap around in unsigned types.
    text = source("binary_convolution", types, WHOLE=int(not image.element_type.is_real()))
    arguments = [image, filters, output, np.float32(node.pad_value), *sizes]
    lowering.launch_flat(text, "binary_convolution", arguments, math.prod(output.shape))
