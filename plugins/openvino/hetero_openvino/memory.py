"""Sharing of arrays between numpy and OpenVINO."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import openvino

from hetero.packing import is_packed, pack
from hetero.types import Type

# The element types that OpenVINO has under the same names. Strings and sequences stay outside.
_TYPES = {
    Type(name): getattr(openvino.Type, name)
    for name in (
        "boolean", "bf16", "f16", "f32", "f64", "i4", "i8", "i16", "i32", "i64", "u1", "u2", "u3", "u4", "u6", "u8",
        "u16", "u32", "u64", "nf4", "f4e2m1", "f8e4m3", "f8e5m2", "f8e8m0",
    )
}  # fmt: skip
_NAMES = {openvino_type: kind for kind, openvino_type in _TYPES.items()}


def openvino_type(kind: object) -> openvino.Type | None:
    """Return OpenVINO's element type, None if it has none."""
    return _TYPES.get(kind)  # type: ignore[call-overload]  # a ContainerType is no key


def hetero_type(kind: openvino.Type) -> Type:
    """Return the element type for one of OpenVINO's, dynamic if it is unknown."""
    return _NAMES.get(kind, Type.dynamic)


def address_of(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]


def shared_tensor(array: np.ndarray, kind: Type, keeps_alive: bool = False) -> openvino.Tensor:
    """Return an OpenVINO tensor in the memory of a contiguous array.

    OpenVINO refuses read-only arrays even for constants and inputs, which it does not write to, so the array is passed
    by address. With ``keeps_alive`` the tensor keeps a reference to the array. Sub-byte elements, which take a byte
    each in numpy, are packed into new memory.
    """
    if is_packed(kind):
        return openvino.Tensor(pack(array, kind), list(array.shape), _TYPES[kind])
    interface = {"version": 3, "typestr": "|u1", "shape": (array.nbytes,), "data": (address_of(array), False)}
    content = np.asarray(_Memory(interface, array if keeps_alive else None))
    return openvino.Tensor(content, list(array.shape), _TYPES[kind])


def array_of(tensor: openvino.Tensor, kind: Type) -> np.ndarray:
    """Return the elements of an OpenVINO tensor without a copy, in the dtype of hetero's element type."""
    return tensor.data.view(kind.to_dtype())


class _Memory:
    """Memory that numpy reads by address, and what owns it."""

    def __init__(self, interface: Mapping[str, Any], owner: object) -> None:
        self.__array_interface__ = interface
        self.owner = owner
