"""Types of values that are not tensors: ONNX's sequences, optional values and maps.

In a graph such a value is a scalar whose element type is a ContainerType. At run time it is a 0-D numpy object array
(a box) around the Python value: a list of arrays or of dictionaries, a dictionary, or None for an empty optional.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from hetero.core.shape import PartialShape
from hetero.core.types import Type
from hetero.system.allocation import as_text
from hetero.system.errors import TensorError


@dataclass(frozen=True)
class ContainerType:
    """The element type of a value that contains other values. Has Type's methods, as a type that is not a number.

    ``element_type`` is the type of the contained values; ``partial_shape`` covers all their shapes.
    """

    element_type: ElementType = Type.dynamic
    partial_shape: PartialShape = field(default_factory=PartialShape.dynamic)

    def __post_init__(self) -> None:
        # One type describes several values, whose lengths may differ, so their symbols do not apply.
        object.__setattr__(self, "partial_shape", self.partial_shape.without_symbols())

    def empty(self) -> np.ndarray:
        """Return the empty value."""
        return box(None)

    def to_dtype(self) -> np.dtype:
        return np.dtype(object)

    def is_static(self) -> bool:
        return True

    def is_dynamic(self) -> bool:
        return False

    def is_real(self) -> bool:
        return False

    is_integer = is_signed = is_real

    def get_type_name(self) -> str:
        return str(self)

    to_string = get_type_name


@dataclass(frozen=True)
class MapType(ContainerType):
    """A dictionary from keys of ``key_type``, integers or strings, to single values of ``element_type``."""

    key_type: Type = Type.i64

    def empty(self) -> np.ndarray:
        return box({})

    def __str__(self) -> str:
        return f"map({self.key_type},{self.element_type})"


class SequenceType(ContainerType):
    """A list of tensors of one element type, or of maps of one type."""

    def empty(self) -> np.ndarray:
        return box([])

    def __str__(self) -> str:
        return f"sequence({self.element_type}{self.partial_shape})"


class OptionalType(ContainerType):
    """None, or a value of ``element_type``, which may be a SequenceType, and of ``partial_shape``."""

    def __str__(self) -> str:
        return f"optional({self.element_type}{self.partial_shape})"


ElementType = Type | ContainerType


def element_type_of(value: Any) -> ElementType:
    """Convert to a Type, or return a ContainerType unchanged. Raises ValueError for anything else."""
    return value if isinstance(value, ContainerType) else Type(value)


element_type_of.accepts = "an element type"  # type: ignore[attr-defined]  # an attribute of a function


def enclosing_type(first: ElementType, second: ElementType) -> ElementType:
    """Return the type of a value that has one of the two types; shapes and types inside containers widen.

    Dynamic if the two have nothing in common.
    """
    if first == second:
        return first
    if isinstance(first, ContainerType) and type(first) is type(second):
        inner = enclosing_type(first.element_type, second.element_type)
        if isinstance(first, MapType) and isinstance(second, MapType) and first.key_type is not second.key_type:
            return Type.dynamic
        return replace(first, element_type=inner, partial_shape=first.partial_shape.hull(second.partial_shape))
    return Type.dynamic


def box(value: Any) -> np.ndarray:
    """Wrap a Python value in a 0-D object array."""
    array = np.empty((), object)
    array[()] = value
    return array


def as_container(value: Any, kind: ContainerType) -> np.ndarray:
    """Check and box a user's value for an input of a ContainerType.

    Raises TensorError if a sequence is not a list, a map not a dictionary, or an item has another element type.
    """
    if isinstance(kind, MapType):
        return box(_as_map(value, kind))
    if isinstance(kind, OptionalType):
        if value is None:
            return box(None)
        if isinstance(kind.element_type, ContainerType):
            return box(as_container(value, kind.element_type)[()])
        return box(_as_item(value, kind.element_type))
    if not isinstance(value, Sequence):
        raise TensorError(f"{kind} takes a list of arrays, not {type(value).__name__}")
    if isinstance(kind.element_type, MapType):
        return box([_as_map(item, kind.element_type) for item in value])
    return box([_as_item(item, kind.element_type) for item in value])


def unbox(array: np.ndarray) -> Any:
    """Return a copy of the Python value in a box."""
    value = array[()]
    return [item.copy() for item in value] if isinstance(value, list) else None if value is None else value.copy()


def _as_map(value: Any, kind: MapType) -> dict[Any, Any]:
    """Return a dictionary with keys and values of Python's types. Raises TensorError if they are of other types."""
    if not isinstance(value, Mapping):
        raise TensorError(f"{kind} takes a dictionary, not {type(value).__name__}")
    keys, values = (np.array(list(items) or np.empty(0, int)) for items in (value.keys(), value.values()))
    for what, found, wanted in (("keys", keys, kind.key_type), ("values", values, kind.element_type)):
        is_text = wanted is Type.string
        if found.ndim != 1 or (
            found.size and found.dtype.kind not in ("U" if is_text else "biuf" if wanted.is_real() else "biu")
        ):
            raise TensorError(f"{kind} takes {what} of type {wanted}, not of {found.dtype}")
    return dict(zip(keys.tolist(), values.tolist()))


def _as_item(value: Any, element_type: ElementType) -> np.ndarray:
    array = as_text(np.asarray(value))
    if element_type.is_dynamic() or array.dtype == element_type.to_dtype():
        return array
    if element_type is not Type.string or array.dtype.kind not in "OU":
        raise TensorError(f"an item must have the element type {element_type}, but has {array.dtype}")
    return array.astype(np.str_)
