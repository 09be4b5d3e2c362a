"""Conversion of a network to NHWC: values are NHWC, with Transposes around operations that need NCHW."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hetero import Model, ops
from hetero.graph import Constant, Node, Output, Parameter, Result, is_constant
from hetero.ops.elementwise.arithmetic import Broadcasting
from hetero.ops.elementwise.elementwise import Unary

TO_NCHW, TO_NHWC = (0, 3, 1, 2), (0, 2, 3, 1)


def as_nhwc(model: Model) -> Model:
    """Return the model with all four-dimensional values in NHWC.

    Element-wise operations and Concat work in NHWC; every other operation gets a Transpose before and after it.
    """
    copies: dict[Output, Output] = {}
    for node in model.get_ordered_ops():
        copy = _copy(node, [copies[value] for value in node.input_values()])
        copies.update(zip(node.outputs(), copy))
    results, parameters = ([copies[n.output(0)].node for n in nodes] for nodes in (model.results, model.parameters))
    return Model(results, parameters)


def _copy(node: Node, values: Sequence[Output]) -> list[Output]:
    if isinstance(node, (Constant, Result)):
        return node.clone_with_new_inputs(values).outputs()
    if isinstance(node, Parameter):
        shape = node.partial_shape
        copy = Parameter(node.element_type, [shape[axis] for axis in TO_NHWC] if len(shape) == 4 else shape)
        copy.output(0).names, copy.friendly_name = set(node.output(0).names), node.friendly_name
        return copy.outputs()
    images = [_is_image(value) and not is_constant(value) for value in node.input_values()]
    if isinstance(node, ops.Concat) and all(images):
        return ops.Concat(values, TO_NHWC.index(node.axis % 4), name=node.friendly_name).outputs()
    if isinstance(node, (Unary, Broadcasting)) and images[0]:
        fitting = [_aligned(value) if is_constant(value) and value.node.data.ndim else value for value in values]
        if all(image or is_constant(value) for image, value in zip(images, values)):
            return node.clone_with_new_inputs(fitting).outputs()
    data = [transposed(value, TO_NCHW) if image else value for image, value in zip(images, values)]
    copy = node.clone_with_new_inputs(data)
    return [transposed(output, TO_NHWC) if _is_image(output) else output for output in copy.outputs()]


def _is_image(value: Output) -> bool:
    return value.partial_shape.has_rank and len(value.partial_shape) == 4


def _aligned(value: Output) -> Output:
    """Transpose a Constant so that it broadcasts to NHWC."""
    data = value.node.data
    padded = data.reshape((1,) * (4 - data.ndim) + data.shape)
    return Constant(np.ascontiguousarray(padded.transpose(TO_NHWC)), name=value.node.friendly_name).output(0)


def transposed(value: Output, order: Sequence[int]) -> Output:
    return ops.Transpose(value, np.array(order, np.int64)).output(0)
