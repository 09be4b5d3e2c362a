"""Conversion of a factory's arguments: numbers and arrays to constants, Python's types to element types."""

from __future__ import annotations

from typing import Any

import numpy as np

from hetero.core.types import Type
from hetero.graph import Constant, Node, Output
from hetero.system.errors import ArgumentTypeError

NumericData = int | float | np.ndarray
NumericType = type | np.dtype
ScalarData = int | float
NodeInput = Node | int | float | np.ndarray
TensorShape = list[int]
# Types of Python that have another width in OpenVINO's factories than in numpy, and those that hold text.
_PYTHON_TYPES: dict[Any, Type] = {int: Type.i32, float: Type.f32, str: Type.string, bytes: Type.string}
# Element types with the types that stand for them, and the names of the element types with the same.
openvino_to_numpy_types_map = [
    *((Type(kind), kind) for kind in (
        bool, np.bool_, np.float16, np.float32, np.float64, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16,
        np.uint32, np.uint64,
    )),
    *((Type.string, kind) for kind in (str, np.str_, bytes, np.bytes_)),
]  # fmt: skip
openvino_to_numpy_types_str_map = [(element.to_string(), kind) for element, kind in openvino_to_numpy_types_map]


def get_element_type(data_type: NumericType) -> Type:
    """Return the element type of a Python type or a numpy type. Raises ArgumentTypeError if there is none."""
    if isinstance(data_type, type) and data_type in _PYTHON_TYPES:
        return _PYTHON_TYPES[data_type]
    try:
        return Type(data_type)
    except (TypeError, ValueError) as error:
        raise ArgumentTypeError(f"{data_type!r} is no element type: give a Python type or a numpy type") from error


def get_element_type_str(data_type: NumericType) -> str:
    """Return the name of the element type of a Python type or a numpy type."""
    return get_element_type(data_type).to_string()


def get_dtype(openvino_type: Type) -> np.dtype:
    """Return the numpy type of an element type. Raises ArgumentTypeError for ``dynamic``, which has none."""
    try:
        return openvino_type.to_dtype()
    except ValueError as error:
        raise ArgumentTypeError(f"element type {openvino_type} has no numpy type") from error


def get_numpy_ctype(openvino_type: Type) -> type:
    """Return the class of numpy's numbers of an element type."""
    return get_dtype(openvino_type).type


def get_ndarray(data: Any) -> np.ndarray:
    return data if isinstance(data, np.ndarray) else np.array(data)


def get_shape(data: Any) -> Any:
    """Return the shape of an array, the length of a list, or an empty shape."""
    if isinstance(data, np.ndarray):
        return data.shape
    return [len(data)] if isinstance(data, list) else []


def make_constant_node(value: Any, dtype: NumericType | Type | None = None, *, name: str | None = None) -> Constant:
    """Return a constant. A name becomes the beginning of its friendly name."""
    array = get_ndarray(value)
    if dtype is not None:
        array = array.astype(get_dtype(dtype if isinstance(dtype, Type) else get_element_type(dtype)))
    constant = Constant(array)
    if name:
        constant.friendly_name = f"{name}/{constant.friendly_name}"
    return constant


def as_node(input_value: Any, name: str | None = None) -> Node | Output:
    """Return a node or an output as it is, and numbers as a constant."""
    return input_value if isinstance(input_value, (Node, Output)) else make_constant_node(input_value, name=name)


def as_nodes(*input_values: Any, name: str | None = None) -> list[Node | Output]:
    return [as_node(value, name) for value in input_values]
