"""NonZero: coordinates of the elements that are not zero."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from hetero import ops
from hetero_opencl.kernels.registry import lowers
from hetero_opencl.kernels.scan import exclusive_scan, make_dynamic_output
from hetero_opencl.kernels.sources import source, unsupported_types

if TYPE_CHECKING:
    from hetero_opencl.lowering import Lowering


@lowers(ops.NonZero, unless=unsupported_types)
def non_zero(lowering: Lowering, node: ops.NonZero) -> None:
    data, output = node.input_value(0), node.output(0)
    lengths, count = data.shape or (1,), math.prod(data.shape)
    text = source("non_zero", {"DATA": data.element_type, "INDEX": output.element_type})
    flags = lowering.scratch(count)
    lowering.launch_flat(text, "find", [data, flags], count)
    before, total = exclusive_scan(lowering, flags, count)
    found = make_dynamic_output(lowering, output, [len(lengths), -1], len(lengths) * count, total)
    table = lowering.constant(np.array(lengths, np.int32))
    lowering.launch_flat(text, "write_coordinates", [flags, before, total, table, found, len(lengths)], count)
