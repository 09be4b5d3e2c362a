"""Parameter, Constant and Result: the nodes at which a graph begins and ends."""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hetero.core.compressed import CompressedArray
from hetero.core.containers import element_type_of
from hetero.core.packing import as_numbers, packed_size
from hetero.core.shape import PartialShape, PartialShapeLike
from hetero.core.static_shape import Strides
from hetero.core.tensor import Tensor
from hetero.core.type_conversion import converted
from hetero.core.types import Type
from hetero.graph.attributes import Attribute
from hetero.graph.layouts import HasLayout
from hetero.graph.node import Node
from hetero.graph.operation import Op
from hetero.graph.port import Output
from hetero.system.allocation import as_text
from hetero.system.errors import GraphError


class Parameter(HasLayout, Op, opset=1):
    """An input of the model. ``element_type`` and ``partial_shape`` may be partly unknown."""

    names_its_value = True
    element_type = Attribute(element_type_of)
    partial_shape = Attribute(PartialShape, ir="shape")
    # The known contents, if the Parameter stands for a value of another graph.
    known_value: np.ndarray | None = None
    # The least and the largest number in it, if that is known of the value of the other graph.
    known_interval: tuple[float, float] | None = None
    # Shapes that the value of the other graph has if the inputs of that have likely ones, in the same order for all.
    likely_shapes: tuple[tuple[int, ...], ...] = ()

    def validate_and_infer_types(self) -> None:
        self.check_layout(self.layout, self.partial_shape)
        # Dimensions of inputs are independent, even if their shapes were copied from the same value.
        self.set_output_type(0, self.element_type, self.partial_shape.with_own_symbols())

    def infer_value(self) -> np.ndarray | None:
        return self.known_value

    def set_partial_shape(self, partial_shape: PartialShapeLike) -> None:
        shape = PartialShape(partial_shape)
        self.check_layout(self.layout, shape)
        self.partial_shape = shape

    def get_partial_shape(self) -> PartialShape:
        return self.partial_shape

    def get_element_type(self) -> Type:
        return self.element_type

    def describe_outputs(self) -> str:
        kind = self.output(0).element_type
        return f"{super().describe_outputs()}, {kind.cpp_name if isinstance(kind, Type) else kind}"

    def set_element_type(self, element_type: Type) -> None:
        self.element_type = element_type


class Constant(Op, opset=1):
    """A constant tensor: ``Constant(array)``, ``Constant(tensor=tensor)`` or ``Constant(Type.f32, [2], [1, 2])``.

    ``data`` is a read-only view of the array, which models and devices share. ``Constant(array)`` does not copy the
    array; ``Constant(array=array)`` does unless ``shared_memory`` is true, as in OpenVINO. ``contents`` is that view,
    or the CompressedArray that the Constant was made of: then ``data`` is decoded when it is asked for, and kept only
    as long as somebody uses it.
    """

    contents: np.ndarray | CompressedArray
    # The decoded array, while it is in use.
    _decoded: weakref.ref[np.ndarray] | None = None

    def __init__(
        self,
        value: Any = None,
        shape: Sequence[int] | None = None,
        values: Any = None,
        *,
        array: Any = None,
        tensor: Tensor | None = None,
        shared_memory: bool | None = None,
        name: str | None = None,
    ) -> None:
        if isinstance(value, CompressedArray):
            self.contents = value
            super().__init__(name=name)
            return
        if shape is not None and not isinstance(shape, bool):
            value = filled(value, shape, values)
        elif array is not None:
            value = np.asarray(array) if shared_memory else np.array(array)
        else:
            source = value if tensor is None else tensor
            value = source.array if hasattr(source, "element_type") else np.asarray(source)
            is_copied = shape is False or shared_memory is False
            value = value.copy() if is_copied else value
        try:
            self.data = as_text(value)
        except ValueError as error:
            raise GraphError(f"a Constant cannot hold these strings: {error}") from error
        super().__init__(name=name)

    @property
    def data(self) -> np.ndarray:
        if isinstance(self.contents, np.ndarray):
            return self.contents
        array = self._decoded() if self._decoded else None
        if array is None:
            # With memory of its own, as views of it keep only its owner alive.
            array = np.require(self.contents.decode(), requirements=["OWNDATA"])
            array.setflags(write=False)
            self._decoded = weakref.ref(array)
        return array

    @data.setter
    def data(self, array: np.ndarray) -> None:
        self.contents = array.view()
        self.contents.setflags(write=False)

    def validate_and_infer_types(self) -> None:
        contents = self.contents
        kind = contents.element_type if isinstance(contents, CompressedArray) else Type(contents.dtype)
        self.set_output_type(0, kind, contents.shape)

    def infer_value(self) -> np.ndarray | None:
        is_large = isinstance(self.contents, CompressedArray) and self.contents.size > _MAX_DECODED
        return None if is_large else self.data

    def clone_with_new_inputs(self, inputs: Sequence[Output]) -> Node:
        clone = self.copy_unconnected()
        Node.__init__(clone)
        return clone if clone.take_inference(self) else super().clone_with_new_inputs(inputs)

    def get_attributes(self) -> dict[str, Any]:
        return {"element_type": self.get_element_type().to_string(), "shape": list(self.contents.shape)}

    def get_data(self, *, dtype: Any = None, copy: bool = False) -> np.ndarray:
        """Return the contents, converted to a dtype if one is given, as a copy if ``copy`` is true."""
        if dtype is None:
            return self.data.copy() if copy else self.data
        kind = dtype.to_dtype() if isinstance(dtype, Type) else np.dtype(dtype)
        return as_numbers(self.data).astype(kind, copy=copy)

    def get_vector(self) -> np.ndarray:
        """Return the contents as a 1-D array."""
        return self.data.reshape(-1)

    def get_value_strings(self) -> list[str]:
        """Return the elements as strings."""
        return [_text_of(number) for number in as_numbers(self.data).reshape(-1).tolist()]

    @property
    def strides(self) -> Strides:
        return Strides(self.data.strides)

    def get_strides(self) -> Strides:
        return self.strides

    @property
    def byte_size(self) -> int:
        """The number of bytes in a file; several elements of a sub-byte type share one."""
        kind = self.get_element_type()
        return self.data.nbytes if kind is Type.string else packed_size(self.contents.size, kind)

    @property
    def decoded_bytes(self) -> int:
        """The number of bytes of ``data``."""
        contents = self.contents
        return contents.nbytes if isinstance(contents, np.ndarray) else contents.size * contents.element_type.size

    def get_byte_size(self) -> int:
        return self.byte_size

    @property
    def tensor_view(self) -> Tensor:
        return self.get_tensor_view()

    def get_tensor_view(self) -> Tensor:
        """Return a tensor that shares the contents."""
        return Tensor(self.data, shared_memory=True)


# Compressed arrays up to this many elements are known values of shape inference.
_MAX_DECODED = 1 << 10


class Result(HasLayout, Op, opset=1):
    """An output of the model."""

    names_its_value = True
    input_names = ("data",)

    def validate_and_infer_types(self) -> None:
        self.set_output_type(0, self.get_input_element_type(0), self.get_input_partial_shape(0))

    def infer_value(self) -> np.ndarray | None:
        return self.input_value(0).value


def _text_of(value: Any) -> str:
    """Return an element as OpenVINO prints it."""
    if isinstance(value, float):
        return f"{value:g}".replace("inf", "INFINITY").replace("nan", "NAN")
    return f"{int(value)}" if isinstance(value, bool) else f"{value}"


def filled(kind: Any, shape: Sequence[int], values: Any) -> np.ndarray:
    """Return an array of an element type from a flat list of values, or of one value. Raise GraphError if none fits."""
    element_type, count = Type(kind), math.prod(shape)
    numbers = np.asarray(values).reshape(-1)
    if numbers.size not in (1, count):
        raise GraphError(f"a Constant of the shape {list(shape)} takes {count} values or one, not {numbers.size}")
    return np.broadcast_to(converted(numbers, element_type), count).reshape(shape)


def is_terminal(node: Node) -> bool:
    """Return whether a node is a Parameter, a Constant or a Result, which no device computes."""
    return isinstance(node, (Parameter, Constant, Result))


def is_constant(value: Output | Node) -> bool:
    """Return whether a node, or the node of a value, is a Constant."""
    return isinstance(value.node if isinstance(value, Output) else value, Constant)


def constant_array(value: Output) -> np.ndarray | None:
    """Return the contents of a Constant, or None for any other value.

    A known value of another node does not count: it may change when the model's inputs are reshaped.
    """
    return value.node.data if isinstance(value.node, Constant) else None


def make_postponed_constant(
    element_type: Type, shape: Sequence[int], maker: Callable[[], Tensor], name: str | None = None
) -> Constant:
    """Return a constant of the tensor that ``maker()`` returns, which is called at once.

    Raises GraphError if its type or shape is another one.
    """
    tensor = maker()
    if tensor.element_type is not element_type or list(tensor.shape) != list(shape):
        expected = f"{element_type}{list(shape)}"
        raise GraphError(f"the maker of a constant of {expected} returned {tensor.element_type}{list(tensor.shape)}")
    return Constant(tensor.array, name=name)
