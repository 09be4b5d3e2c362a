"""Specialization of a model of dynamic shapes for one combination of input shapes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from hetero.core.containers import ElementType
from hetero.graph import Constant, Model, Node, Parameter
from hetero.ops import ShapeOf
from hetero.passes.constant_folding import fold_constants
from hetero.passes.fold_constant_if import fold_constant_if


def shape_deciding_parameters(model: Model) -> list[Parameter]:
    """Return the Parameters whose contents decide shapes."""
    deciding = shape_deciding_nodes(model)
    return [parameter for parameter in model.parameters if parameter in deciding]


def shape_deciding_nodes(model: Model) -> set[Node]:
    """Return the nodes whose values any input in ``shape_inputs`` of a node depends on."""
    deciding: set[Node] = set()
    for node in reversed(model.get_ordered_ops()):
        for target in (t for output in node.outputs() for t in output.get_target_inputs()):
            reader = target.node
            # ShapeOf depends on the shape of its input, not on its value.
            if target.index in reader.shape_inputs or (reader in deciding and not isinstance(reader, ShapeOf)):
                deciding.add(node)
    return deciding


def specialize(
    model: Model,
    shapes: Mapping[int, tuple[int, ...]],
    values: Mapping[int, np.ndarray],
    types: Mapping[int, ElementType] | None = None,
) -> Model:
    """Return a copy of the model for these input shapes, contents of inputs and types of inputs, each by index.

    Constants are folded, and each If of a known condition is replaced by its branch. All shapes are static except those
    that depend on data. An input whose contents are given stays a Parameter of the copy, which no node reads.
    """
    special = model.clone()
    for index, shape in shapes.items():
        special.parameters[index].partial_shape = shape
    for index, element_type in (types or {}).items():
        special.parameters[index].element_type = element_type
    for index, value in values.items():
        parameter = special.parameters[index]
        constant = Constant(value.copy(), name=f"{parameter.friendly_name}/value")
        for target in parameter.output(0).get_target_inputs():
            target.replace_source_output(constant.output(0))
    for parameter in special.parameters:
        parameter.infer()
    fold_constants(special)
    while fold_constant_if(special):
        fold_constants(special)
    return special
