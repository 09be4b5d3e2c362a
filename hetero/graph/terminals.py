"""Parameter, Constant and Result: the nodes at which a graph begins and ends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hetero.containers import element_type_of
from hetero.graph.attributes import Attribute
from hetero.graph.layouts import HasLayout
from hetero.graph.node import Node, Output
from hetero.graph.operation import Op
from hetero.shape import PartialShape, PartialShapeLike
from hetero.types import Type


class Parameter(HasLayout, Op, opset=1):
    """An input of the model. Its element type and shape may be partly unknown."""

    element_type = Attribute(element_type_of)
    partial_shape = Attribute(PartialShape, ir="shape")
    # The known contents, if the Parameter stands for a value of another graph.
    known_value: np.ndarray | None = None

    def validate_and_infer_types(self) -> None:
        self.check_layout(self.layout, self.partial_shape)
        # Dimensions of inputs are independent, even if their shapes were copied from the same value.
        self.set_output_type(0, self.element_type, self.partial_shape.with_own_symbols())

    def infer_value(self) -> np.ndarray | None:
        return self.known_value

    def set_partial_shape(self, shape: PartialShapeLike) -> None:
        shape = PartialShape(shape)
        self.check_layout(self.layout, shape)
        self.partial_shape = shape

    def get_partial_shape(self) -> PartialShape:
        return self.partial_shape

    def set_element_type(self, element_type: Type) -> None:
        self.element_type = element_type


class Constant(Op, opset=1):
    """A constant tensor.

    The array is not copied: ``data`` is a read-only view of it, which models and devices share.
    """

    def __init__(self, value: Any, name: str | None = None) -> None:
        self.data = np.asarray(value).view()
        self.data.setflags(write=False)
        super().__init__(name=name)

    def validate_and_infer_types(self) -> None:
        self.set_output_type(0, Type(self.data.dtype), self.data.shape)

    def infer_value(self) -> np.ndarray:
        return self.data

    def clone_with_new_inputs(self, inputs: Sequence[Output]) -> Node:
        clone = self.copy_unconnected()
        Node.__init__(clone)
        return clone if clone.take_inference(self) else super().clone_with_new_inputs(inputs)

    def get_data(self) -> np.ndarray:
        return self.data

    @property
    def byte_size(self) -> int:
        return self.data.nbytes


class Result(HasLayout, Op, opset=1):
    """An output of the model."""

    input_names = ("data",)

    def validate_and_infer_types(self) -> None:
        self.set_output_type(0, self.get_input_element_type(0), self.get_input_partial_shape(0))

    def infer_value(self) -> np.ndarray | None:
        return self.input_value(0).value


def is_constant(value: Output | Node) -> bool:
    """Return whether a node, or the node of a value, is a Constant."""
    return isinstance(value.node if isinstance(value, Output) else value, Constant)


def constant_array(value: Output) -> np.ndarray | None:
    """Return the contents of a Constant, or None for any other value.

    A known value of another node does not count: it may change when the model's inputs are reshaped.
    """
    return value.node.data if isinstance(value.node, Constant) else None
