"""The inputs and outputs of a model as a whole: layouts, the batch dimension that they name, and new shapes.

A layout is kept in the rt_info of a value, under OpenVINO's key, so that IR files hold it. A Result has the layout of
the value that it returns.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from hetero.core.dimension import Dimension
from hetero.core.layout import Layout
from hetero.core.shape import PartialShape, PartialShapeLike
from hetero.graph.node import Node
from hetero.graph.port import Input, Output
from hetero.graph.rt_info import RuntimeAttribute
from hetero.graph.upper_layers import need
from hetero.system.errors import ArgumentTypeError, GraphError

if TYPE_CHECKING:
    from hetero.graph.model import Model
    from hetero.graph.port import PortKey
    from hetero.graph.terminals import Parameter


LAYOUT = "layout_0"


class HasLayout(Node):
    """Mixin of Parameter and Result: the layout of their value."""

    @property
    def layout(self) -> Layout:
        """The names of the dimensions. Setting raises GraphError if the layout does not fit the shape."""
        return get_layout(self.output(0))

    @layout.setter
    def layout(self, layout: Layout) -> None:
        set_layout(self.output(0), layout)

    def get_layout(self) -> Layout:
        return self.layout

    def set_layout(self, layout: Layout) -> None:
        self.layout = layout

    def check_layout(self, layout: Layout, shape: PartialShape) -> None:
        """Raise GraphError if a layout does not fit a shape."""
        if not layout.fits(shape):
            self.fail(f"layout {layout} does not fit its shape {shape}")


def get_layout(port: Output) -> Layout:
    """Return the layout of a value, empty if it has none."""
    attribute = _value_of(port).rt_info.get(LAYOUT)
    return Layout(attribute.get("layout", "")) if isinstance(attribute, RuntimeAttribute) else Layout()


def set_layout(port: Output, layout: Layout) -> None:
    """Set the layout of a model's input or output; an empty one removes it.

    Raises GraphError if the value is of another node, or if the layout does not fit its shape.
    """
    value = _value_of(port)
    if not isinstance(layout, Layout):
        raise ArgumentTypeError(f"set_layout takes a Layout, not {layout!r}")
    node = port.node
    if not isinstance(node, HasLayout):
        node.fail("only Parameters and Results have a layout")
    node.check_layout(layout, port.partial_shape)
    value.rt_info.pop(LAYOUT, None)
    if not layout.empty:
        value.rt_info[LAYOUT] = RuntimeAttribute(layout=str(layout))


def _value_of(port: Output) -> Output:
    if not isinstance(port, Output):
        raise ArgumentTypeError(f"a layout belongs to an output of a node, not to {port!r}")
    return port.node.input_value(0) if isinstance(port.node, HasLayout) and port.node.get_input_size() else port


def get_batch(model: Model) -> Dimension:
    """Return the batch size: the dimension N in the layouts of the inputs.

    Raises GraphError if no layout has N, or if the inputs disagree.
    """
    batch = Dimension()
    for parameter, index in _batched_inputs(model):
        length = parameter.partial_shape[index]
        if not batch.compatible(length):
            raise GraphError(f"the inputs of model '{model.friendly_name}' differ in batch size: {_describe(model)}")
        batch = batch.merge(length)
    return batch


def set_batch(model: Model, batch_size: Dimension | int = -1, *, dimension: Dimension | int | None = None) -> None:
    """Set the batch size, the dimension N in the layouts of the inputs, and infer all shapes again.

    Raises GraphError like ``get_batch``, or if the model cannot have this batch size; its shapes then stay as they are.
    """
    batch = batch_size if dimension is None else dimension
    if not isinstance(batch, (int, Dimension)):
        raise ArgumentTypeError(f"a batch size is an int or a Dimension, not {batch!r}")
    get_batch(model)
    shapes: dict[PortKey, PartialShape] = {}
    for parameter, index in _batched_inputs(model):
        dimensions = list(parameter.partial_shape)
        dimensions[index] = Dimension.of(batch)
        shapes[parameter.output(0)] = PartialShape(dimensions)
    try:
        model.reshape(shapes)
    except GraphError as error:
        raise GraphError(f"model '{model.friendly_name}' cannot have the batch size {batch}: {error}") from error


def _batched_inputs(model: Model) -> list[tuple[Parameter, int]]:
    from hetero.graph.model import Model

    if not isinstance(model, Model):
        raise ArgumentTypeError(f"a batch size belongs to a Model, not to {model!r}")
    batched = [p for p in model.parameters if p.layout.has_name("N") and p.partial_shape.has_rank]
    if not batched:
        raise GraphError(
            f"no layout of an input of model '{model.friendly_name}' has the batch dimension N: {_describe(model)}; "
            "set one such as NCHW by set_layout"
        )
    return [(parameter, parameter.layout.get_index_by_name("N")) for parameter in batched]


def _describe(model: Model) -> str:
    return ", ".join(f"{p.friendly_name} has {p.partial_shape} with layout {p.layout}" for p in model.parameters)


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
    fixed = _free_rows_of_products(model)
    _set(changes)
    try:
        model.validate_nodes_and_infer_types()
    except Exception:  # a user-defined operation may raise anything
        _set(before)
        for target, source in fixed.items():
            target.replace_source_output(source)
        model.validate_nodes_and_infer_types()
        raise


def _set(attributes: Mapping[Node, tuple[str, Any]]) -> None:
    for node, (name, value) in attributes.items():
        setattr(node, name, value)


def _free_rows_of_products(model: Model) -> dict[Input, Output]:
    """Let Reshapes before matrix products have any number of rows: their constant shape [1, n] becomes [-1, n].

    Files have such constants for the batch size that they were exported with. OpenVINO does the same when it reshapes
    a model. Returns the inputs that were changed, each with the constant that it had.
    """
    from hetero.graph.terminals import Constant, constant_array  # which imports this module

    operations = need("operations")
    fixed: dict[Input, Output] = {}
    for node in model.get_ordered_ops():
        if not isinstance(node, operations.Reshape):
            continue
        shape = constant_array(node.input_value(1))
        readers = list(node.output(0).get_target_inputs())
        if shape is None or shape.size != 2 or shape.min() <= 0 or not readers:
            continue
        if all(isinstance(reader.node, operations.MatMul) and _columns(reader) == shape[1] for reader in readers):
            fixed[node.input(1)] = node.input_value(1)
            node.input(1).replace_source_output(Constant(np.array([-1, shape[1]], shape.dtype)).output(0))
    return fixed


def _columns(reader: Input) -> int | None:
    """Return the length along which a matrix product adds up, if it reads the value as rows; None if it is unknown."""
    product: Any = reader.node
    weights = product.input_value(1).partial_shape
    if reader.index != 0 or product.transpose_a or not weights.has_rank or len(weights) < 2:
        return None
    length = weights[-1 if product.transpose_b else -2]
    return length.get_length() if length.is_static else None
