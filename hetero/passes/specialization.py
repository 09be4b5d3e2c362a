"""A model of dynamic shapes for the one combination of input shapes at hand."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from hetero.graph import Constant, Model, Node, Parameter
from hetero.ops import ShapeOf
from hetero.passes.constant_folding import fold_constants
from hetero.passes.fold_constant_if import fold_constant_if
from hetero.types import Type


def value_parameters(model: Model) -> list[Parameter]:
    """The Parameters whose contents decide shapes."""
    deciding = nodes_that_decide_shapes(model)
    return [parameter for parameter in model.parameters if parameter in deciding]


def nodes_that_decide_shapes(model: Model) -> set[Node]:
    """The nodes from which a path leads to an input that is read for its value."""
    deciding: set[Node] = set()
    for node in reversed(model.get_ordered_ops()):
        for target in (t for output in node.outputs() for t in output.get_target_inputs()):
            reader = target.node
            # Whoever computes a value that decides shapes does so from its inputs; of ShapeOf only the shape counts.
            if target.index in reader.shape_inputs or (reader in deciding and not isinstance(reader, ShapeOf)):
                deciding.add(node)
    return deciding


def specialize(
    model: Model,
    shapes: Mapping[int, tuple[int, ...]],
    values: Mapping[int, np.ndarray],
    types: Mapping[int, Type] | None = None,
) -> Model:
    """A copy of the model for inputs of these shapes, by index, and with the contents or the types of some of them.

    Ensures: what is known is folded, and no If of a known condition is left. All shapes are static but those that
    depend on data. Inputs whose contents are given stay Parameters of the copy, read by nobody.
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
