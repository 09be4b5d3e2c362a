"""New shapes for the inputs and variables of a model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hetero.core.shape import PartialShape, PartialShapeLike
from hetero.graph.node import Node
from hetero.graph.port import Output
from hetero.system.errors import ArgumentTypeError

if TYPE_CHECKING:
    from hetero.graph.model import Model


def reshape(model: Model, shapes: Any, variables_shapes: Mapping[str, PartialShapeLike]) -> None:
    """Set shapes and infer all others; see Model.reshape. If that fails, the model keeps its shapes."""
    changes: dict[Node, tuple[str, PartialShape]] = {}
    for key, shape in (shapes if isinstance(shapes, Mapping) else {None: shapes}).items():
        if key is not None and not isinstance(key, (int, str, Output)):
            raise ArgumentTypeError(f"reshape takes inputs by index, name or port, not {key!r}")
        if not isinstance(shape, (PartialShape, str, list, tuple)):
            raise ArgumentTypeError(f"reshape takes a shape, or a dictionary of shapes by input, not {shape!r}")
        changes[model.input(key).node] = ("partial_shape", PartialShape(shape))
    for node in model.get_ordered_ops() if variables_shapes else ():
        info = getattr(node, "variable_info", None)
        if info is not None and "variable_shape" in node.__dict__ and info.variable_id in variables_shapes:
            changes[node] = ("variable_shape", PartialShape(variables_shapes[info.variable_id]))
    before = {node: (name, getattr(node, name)) for node, (name, _) in changes.items()}
    _set(changes)
    try:
        model.validate_nodes_and_infer_types()
    except Exception:  # a user-defined operation may raise anything
        _set(before)
        model.validate_nodes_and_infer_types()
        raise


def _set(attributes: Mapping[Node, tuple[str, Any]]) -> None:
    for node, (name, value) in attributes.items():
        setattr(node, name, value)
