"""MVN over the last axes. (Batch normalization is folded into Multiply and Add before.)"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from hetero import ops
from hetero.graph import Node
from hetero.ops.values import exact_value
from hetero.types import Type
from hetero_opencl.kernels.registry import lowers
from hetero_opencl.kernels.sources import source

if TYPE_CHECKING:
    from hetero_opencl.lowering import Lowering

_DEVIATIONS = {"inside_sqrt": "sqrt(variance + epsilon)", "outside_sqrt": "sqrt(variance) + epsilon"}


def refuse(node: Node) -> str | None:
    element_type, shape = node.get_input_element_type(0), node.get_input_partial_shape(0)
    if element_type is not Type.f32:
        return f"no kernel normalizes elements of type {element_type}"
    if not shape.has_rank:
        return "the rank of its data is not known"
    axes = exact_value(node.input_value(1))
    if axes is None:
        return "its axes are not known"
    if first_axis(node, len(shape)) is None:
        return f"its axes {axes.reshape(-1).tolist()} are not the last ones of {len(shape)} dimensions"
    return None


def first_axis(node: Node, rank: int) -> int | None:
    """The first of the axes; None where they are not all axes from there to the last."""
    axes = {axis % rank for axis in exact_value(node.input_value(1)).reshape(-1).tolist()}
    first = rank - len(axes)
    return first if axes and axes == set(range(first, rank)) else None


@lowers(ops.MVN, unless=refuse)
def mvn(lowering: Lowering, node: Node) -> None:
    data, output = node.input_value(0), node.output(0)
    shape = tuple(data.shape)
    first = first_axis(node, len(shape))
    text = source("normalization", NORMALIZE=int(node.normalize_variance), DEVIATION=_DEVIATIONS[node.eps_mode])
    numbers = [np.int32(math.prod(shape[first:])), np.float32(node.eps)]
    lowering.launch_flat(
        text, "mvn", [lowering.buffer(data), lowering.buffer(output), *numbers], math.prod(shape[:first])
    )
