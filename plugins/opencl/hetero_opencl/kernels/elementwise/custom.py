"""User-defined operations: their C expressions and kernels, as lowering/custom.py describes them."""

from __future__ import annotations

import re
from typing import Any, cast

import numpy as np

from hetero.core.types import Type
from hetero.graph import Input, Op, Output, describe_failure
from hetero.system.errors import DeviceError
from hetero_opencl.device.launch import Buffer
from hetero_opencl.kernels.common.definition import (
    custom_unsupported_reason,
    element_macros,
    first_reason,
    lowers_if,
    unsupported_types,
)
from hetero_opencl.kernels.common.literals import FLOATS, literal
from hetero_opencl.lowering.custom import Scratch, has_custom_kernels
from hetero_opencl.lowering.lowering import Argument, Lowering

_NAME = re.compile(r"(?<![\w.])[A-Za-z_]\w*")
_REAL = re.compile(r"(?<![\w.])(?:(?:\d+\.\d*|\.\d+)(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+)(?![\w.])")


def custom_expression(node: Op, kind: str, *inputs: str) -> str:
    """Return the node's expression with C variables for inputs and literals for attributes. Raises GraphError."""
    problem = expression_unsupported_reason(node)
    if problem:
        node.fail(problem)
    real = kind if kind in FLOATS else "float"
    words = dict(zip(_input_names(node), inputs))
    for name, value in node.attribute_values().items():
        if isinstance(value, (bool, int, np.integer)):
            words[name] = f"({int(value)})"
        elif isinstance(value, (float, np.floating)):
            words[name] = f"({literal(real, float(value))})"
    text = _REAL.sub(lambda match: literal(real, float(match[0])), cast(Any, node).opencl_expression)
    text = f"({_NAME.sub(lambda match: words.get(match[0], match[0]), text)})"
    return f"({text} != 0)" if node.get_output_element_type(0) is Type.boolean else text


def expression_unsupported_reason(node: Op) -> str | None:
    """Return the reason why a node's expression cannot be used, or None. Shapes may be partly unknown."""
    reason = custom_unsupported_reason(node)
    if reason:
        return reason
    expression = cast(Any, node).opencl_expression
    if expression is None:
        return f"no expression for this {node.type_info.name}"
    if not node.get_input_size() or node.get_output_size() != 1:
        return "an expression needs at least one input and exactly one output"
    for name, value in node.attribute_values().items():
        is_number = isinstance(value, (bool, int, float, np.integer, np.floating))
        if not is_number and name in _NAME.findall(expression):
            return f"attribute {name} = {value!r} cannot stand in an expression; it must be a number or a boolean"
    shapes = [value.partial_shape for value in (*node.input_values(), node.output(0))]
    if all(shape.is_static for shape in shapes):
        *inputs, output = (shape.to_shape() for shape in shapes)
        try:
            broadcast = np.broadcast_shapes(*inputs)
        except ValueError:
            broadcast = None
        if broadcast != output:
            shapes_text = ", ".join(f"{shape}" for shape in inputs)
            return f"an expression makes an output of the shape to which {shapes_text} broadcast, not {output}"
    return None


def _input_names(node: Op) -> list[str]:
    """Return the declared input names, then ``input0``, ``input1`` … for variadic and undeclared inputs."""
    declared = [name.strip("?") for name in node.input_names if not name.startswith("*")]
    return [*declared, *(f"input{index}" for index in range(len(declared), node.get_input_size()))]


@lowers_if(has_custom_kernels, unsupported=first_reason(unsupported_types, custom_unsupported_reason))
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
