"""Operations that need others around OpenVINO's for the same results at infinities."""

from __future__ import annotations

import functools

import numpy as np
import openvino
from openvino.utils.node_factory import NodeFactory

from hetero import ops
from hetero.core.types import Type
from hetero.graph import Node
from hetero_openvino.memory import constant


@functools.cache
def factory(operation_set: str) -> NodeFactory:
    """Return the maker of nodes of an operation set."""
    return NodeFactory(operation_set)


def corrected(node: Node, made: openvino.Node) -> openvino.Node:
    """Return OpenVINO's equivalent of a node: ``made``, or the node that corrects its result."""
    if isinstance(node, (ops.ReduceMax, ops.ReduceMin)) and _is_compared(node):
        # OpenVINO's extremum of infinities is finite, and masked attention compares it with infinity.
        data, axes = made.input_value(0), made.input_value(1)
        infinity = _scalar(-np.inf if isinstance(node, ops.ReduceMax) else np.inf, node.get_output_element_type(0))
        flags = _flags(_make("Equal", data, infinity))
        all_infinite = _make("ReduceMin", flags, axes, keep_dims=node.keep_dims)
        return _make("Select", _is_set(all_infinite), infinity, made.output(0)).get_node()
    if isinstance(node, ops.ScaledDotProductAttention) and node.get_input_size() > 3 and not node.causal:
        # OpenVINO returns NaN for rows that the mask excludes, not zeros.
        mask, last = made.input_value(3), constant(np.array([-1]), Type.i64).output(0)
        if mask.get_element_type() != openvino.Type.boolean:
            mask = _make("NotEqual", mask, _scalar(-np.inf, node.get_input_element_type(3)))
        any_included = _make("ReduceMax", _flags(mask), last, keep_dims=True)
        return _make(
            "Select", _is_set(any_included), made.output(0), _scalar(0, node.get_output_element_type(0))
        ).get_node()
    return made


def _is_compared(node: Node) -> bool:
    readers = [reader.node for reader in node.output(0).get_target_inputs()]
    return node.get_output_element_type(0).is_real() and any(isinstance(reader, ops.Equal) for reader in readers)


def _make(name: str, *inputs: openvino.Output, **attributes: object) -> openvino.Output:
    return factory("opset1").create(name, list(inputs), attributes).output(0)


def _flags(condition: openvino.Output) -> openvino.Output:
    """Return 1 for true and 0 for false, as CPUs reduce no booleans."""
    return _make("Convert", condition, destination_type="i32")


def _is_set(flags: openvino.Output) -> openvino.Output:
    return _make("Equal", flags, _scalar(1, Type.i32))


def _scalar(value: float, kind: Type) -> openvino.Output:
    return constant(np.array(value, kind.to_dtype()), kind).output(0)
