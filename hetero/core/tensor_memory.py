"""The array of a tensor: allocated, a part of another array, or another array in a new shape."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeGuard

import numpy as np

from hetero.core.containers import ElementType
from hetero.core.shape import PartialShape
from hetero.core.static_shape import Shape, Strides
from hetero.core.types import Type
from hetero.system.allocation import check_allocation
from hetero.system.errors import TensorError


class HasPartialShape(Protocol):
    """A port of a node or of a model."""

    def get_element_type(self) -> ElementType: ...

    def get_partial_shape(self) -> PartialShape: ...


def checked_shape(shape: Sequence[int]) -> tuple[int, ...]:
    """Return a shape as a tuple. Raise ArgumentTypeError if it has a negative length, or one that is no integer."""
    return tuple(Shape(shape))


def dtype_of(kind: Any) -> np.dtype:
    if Type(kind) is Type.dynamic:
        raise TensorError("a tensor cannot have the dynamic type")
    return Type(kind).to_dtype()


def allocate(make: Callable[..., np.ndarray], shape: Sequence[int], dtype: np.dtype) -> np.ndarray:
    """Return ``make(shape, dtype)``. Raises TensorError if the shape is invalid or memory does not suffice."""
    shape = checked_shape(shape)
    try:
        check_allocation(math.prod(shape) * dtype.itemsize, "it")
        return make(shape, dtype)
    except (MemoryError, ValueError) as error:
        raise TensorError(f"a tensor of {Type(dtype)}{list(shape)} cannot be allocated: {error}") from error


def array_of_port(port: HasPartialShape, array: np.ndarray | None) -> np.ndarray:
    """Return the memory of a tensor for a port: a part of an array or a new array, without elements if it is dynamic.

    Raises TensorError if the array is too small or has elements of another size.
    """
    partial_shape, kind = port.get_partial_shape(), port.get_element_type()
    shape = tuple(partial_shape.to_shape()) if partial_shape.is_static else (0,)
    dtype, count = dtype_of(kind), math.prod(shape)
    if array is None:
        return allocate(np.zeros, shape, dtype)
    if array.size < count or array.dtype.itemsize != dtype.itemsize or not array.flags.c_contiguous:
        given = f"an array of {array.dtype}{[*array.shape]}"
        raise TensorError(f"{given} cannot be the memory of a tensor of {kind}{[*shape]}")
    return array.reshape(-1)[:count].view(dtype).reshape(shape)


def shares_bytes(kind: ElementType) -> TypeGuard[Type]:
    return isinstance(kind, Type) and 0 < kind.bitwidth < 8


def with_shape(array: np.ndarray, shape: Sequence[int], kind: Any) -> np.ndarray:
    """Return an array of a shape, and of an element type whose bits the array contains.

    The array may be longer. Raises TensorError if it is shorter.
    """
    element_type = Type(array.dtype if kind is None else kind)
    try:
        flat = np.ascontiguousarray(array).reshape(-1).view(element_type.to_dtype())
        return flat[: math.prod(shape)].reshape(shape)
    except ValueError as error:
        problem = f"cannot be a tensor of {element_type}{list(shape)}"
        raise TensorError(f"an array of {array.dtype}{list(array.shape)} {problem}: {error}") from error


def strides_in_bytes(kind: ElementType, strides: Sequence[int]) -> Strides:
    """Return the strides of a tensor. Raises TensorError if its elements are smaller than a byte, as OpenVINO does."""
    if shares_bytes(kind):
        raise TensorError(f"a tensor of {kind} has no strides: its elements are smaller than a byte")
    return Strides(strides)
