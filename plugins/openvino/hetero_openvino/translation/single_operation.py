"""A single operation of OpenVINO, made from the name and the declared attributes of one of hetero."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
import openvino

from hetero import ops
from hetero.core.shape import PartialShape
from hetero.core.types import Type
from hetero.graph import Attribute, AttributeVisitor, Constant, Node, Op, Output
from hetero.ops import Divide, PRelu
from hetero.ops.reduction import TopKV1
from hetero_openvino.memory import constant
from hetero_openvino.translation.corrections import factory, is_bf16_convolution, make
from hetero_openvino.translation.ports import Untranslatable, shape_of

# OpenVINO's key for a division that stays one.
_EXACT_DIVISION = "nonconvertable_divide_0"


def make_operation(node: Node, inputs: list[openvino.Output], finite: Collection[Output]) -> openvino.Node:
    """Return the operation of the name of a node. Raises Untranslatable if OpenVINO has none.

    ``finite``: the values that are neither NaN nor infinite.
    """
    if not isinstance(node, Op) or node.type_info.version_id == "extension":
        raise Untranslatable(f"OpenVINO has no operation {node.type_info.name}")
    if isinstance(node, PRelu):
        inputs[1] = _slope_of(node, inputs[1])
    # OpenVINO would round each sum to bf16.
    is_summed_in_f32 = isinstance(node, ops.CumSum) and node.get_element_type() is Type.bf16
    is_summed_in_f32 |= is_bf16_convolution(node) and node.input_value(0) not in finite
    if is_summed_in_f32:
        bf16 = openvino.Type.bf16
        inputs = [
            make("Convert", value, destination_type="f32") if value.get_element_type() == bf16 else value
            for value in inputs
        ]
    attributes = _AttributeCollector()
    node.visit_attributes(attributes)
    version = node.type_info.version_id
    if isinstance(node, TopKV1):
        # Or else the first of equal elements is not always selected; then "none" is no order for OpenVINO.
        sort = "value" if node.sort == "none" else node.sort
        version, attributes.values = "opset11", {**attributes.values, "sort": sort, "stable": True}
    made = factory(version).create(node.type_info.name, inputs, attributes.values)
    if is_summed_in_f32:
        made = make("Convert", made.output(0), destination_type="bf16").get_node()
    if isinstance(node, Divide) and not any(isinstance(value.node, Constant) for value in node.input_values()):
        # Or else OpenVINO multiplies by the reciprocal, whose rounding moves quantized values by a step. With this
        # key it divides constants the wrong way round.
        made.get_rt_info()[_EXACT_DIVISION] = True
    return made


class _AttributeCollector(AttributeVisitor):
    """Collects the attributes by their names in IR files, as values that OpenVINO's node factory takes."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}

    def visit(self, attribute: Attribute, value: Any) -> Any:
        if value is not None:
            self.values[attribute.ir_name] = _attribute_value(value)
        return value


def _attribute_value(value: Any) -> Any:
    if isinstance(value, Type):
        return value.to_string()
    if isinstance(value, PartialShape):
        return shape_of(value)
    return list(value) if isinstance(value, tuple) else value


def _slope_of(node: PRelu, slope: openvino.Output) -> openvino.Output:
    """Return the slope with the dimensions of the data: with fewer, OpenVINO converts layouts before and after it."""
    shapes = [value.partial_shape for value in node.input_values()]
    if not all(shape.has_rank for shape in shapes):
        return slope
    data_rank, rank = map(len, shapes)
    if rank < 2 or rank >= data_rank:  # OpenVINO aligns one dimension with the channels
        return slope
    axes = constant(np.arange(data_rank - rank), Type.i64).output(0)
    return factory("opset1").create("Unsqueeze", [slope, axes], {}).output(0)
