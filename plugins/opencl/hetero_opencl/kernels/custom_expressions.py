"""Expressions that operations of anybody's own bring in ``opencl_expression``; see custom.py."""

from __future__ import annotations

import re

import numpy as np

from hetero.graph import Node, Op
from hetero.types import Type
from hetero_opencl.kernels.literals import FLOATS, literal
from hetero_opencl.kernels.registry import custom_unsupported_reason

_NAME = re.compile(r"(?<![\w.])[A-Za-z_]\w*")
_REAL = re.compile(r"(?<![\w.])(?:(?:\d+\.\d*|\.\d+)(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+)(?![\w.])")


def has_custom_expression(node: Node) -> bool:
    return getattr(type(node), "opencl_expression", None) is not None


def custom_expression(node: Op, kind: str, *inputs: str) -> str:
    """The expression with a variable for each input, and literals for attributes. Raises GraphError."""
    problem = expression_unsupported_reason(node)
    if problem:
        node.fail(problem)
    real = kind if kind in FLOATS else "float"
    words = dict(zip(_input_names(node), inputs))
    for name, value in node.get_attributes().items():
        if isinstance(value, (bool, int, np.integer)):
            words[name] = f"({int(value)})"
        elif isinstance(value, (float, np.floating)):
            words[name] = f"({literal(real, float(value))})"
    text = _REAL.sub(lambda found: literal(real, float(found[0])), node.opencl_expression)
    text = f"({_NAME.sub(lambda found: words.get(found[0], found[0]), text)})"
    return f"({text} != 0)" if node.get_output_element_type(0) is Type.boolean else text


def expression_unsupported_reason(node: Op) -> str | None:
    """Why the expression of a node cannot be computed; None where it can. Shapes may be partly unknown."""
    reason = custom_unsupported_reason(node)
    if reason:
        return reason
    if node.opencl_expression is None:
        return f"no expression for this {node.type_info.name}"
    if not node.get_input_size() or node.get_output_size() != 1:
        return "an expression needs an input and makes one output"
    for name, value in node.get_attributes().items():
        is_number = isinstance(value, (bool, int, float, np.integer, np.floating))
        if not is_number and name in _NAME.findall(node.opencl_expression):
            return f"{name}, which is {value!r}, cannot stand in an expression"
    shapes = [value.partial_shape for value in (*node.input_values(), node.output(0))]
    if all(shape.is_static for shape in shapes):
        *read, made = (shape.to_shape() for shape in shapes)
        try:
            broadcast = np.broadcast_shapes(*read)
        except ValueError:
            broadcast = None
        if broadcast != made:
            return f"an expression makes the shape to which {read} broadcast, not {made}"
    return None


def _input_names(node: Op) -> list[str]:
    """Those that the class declares; of a list of inputs, and without declarations, numbers tell them apart."""
    declared = [name.strip("?") for name in node.inputs_declared if not name.startswith("*")]
    return [*declared, *(f"input{index}" for index in range(len(declared), node.get_input_size()))]
