"""Sharing of arrays between numpy and OpenVINO."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import openvino
from openvino import op

from hetero.core.compressed import CompressedArray, PackedArray
from hetero.core.packing import is_packed, pack
from hetero.core.types import Type

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


def bound_tensor(array: np.ndarray, kind: Type) -> openvino.Tensor:
    """Return an OpenVINO tensor in the memory of a contiguous array, without a reference to the array.

    OpenVINO refuses read-only arrays even for inputs, which it does not write to, so the memory is given by address.
    """
    return openvino.Tensor(_memory_of(array, "|u1", (array.nbytes,)), list(array.shape), _TYPES[kind])


def copied_tensor(array: np.ndarray, kind: Type) -> openvino.Tensor:
    """Return an OpenVINO tensor with a copy of an array, in memory of its own."""
    tensor = openvino.Tensor(_TYPES[kind], list(array.shape))
    np.copyto(array_of(tensor, kind), array)
    return tensor


def constant(array: np.ndarray | CompressedArray, kind: Type) -> op.Constant:
    """Return an OpenVINO constant in the memory of an array, which it keeps alive.

    Element types that numpy does not have are copied, as OpenVINO can keep no array of these alive.
    """
    if is_packed(kind):
        packed = array.content if isinstance(array, PackedArray) else pack(np.asarray(array), kind)
        content = openvino.Tensor(_memory_of(packed, "|u1", packed.shape), list(array.shape), _TYPES[kind])
        return op.Constant(content, shared_memory=False)
    if isinstance(array, CompressedArray):
        array = array.decode()
    array = np.ascontiguousarray(array) if array.ndim else array
    if array.dtype.isbuiltin == 1:  # 2 is a type that a library adds
        return op.Constant(_memory_of(array, array.dtype.str, array.shape, array), shared_memory=True)
    return op.Constant(bound_tensor(array, kind), shared_memory=False)


def array_of(tensor: openvino.Tensor, kind: Type) -> np.ndarray:
    """Return the elements of an OpenVINO tensor without a copy, in the dtype of hetero's element type."""
    return tensor.data.view(kind.to_dtype())


def _memory_of(array: np.ndarray, kind: str, shape: tuple[int, ...], owner: object = None) -> np.ndarray:
    """Return a writable array in the memory of another one, which keeps only ``owner`` alive."""
    interface = {"version": 3, "typestr": kind, "shape": shape, "data": (address_of(array), False)}
    return np.asarray(_Memory(interface, owner))


class _Memory:
    """Memory that numpy reads by address, and what owns it."""

    def __init__(self, interface: Mapping[str, Any], owner: object) -> None:
        self.__array_interface__ = interface
        self.owner = owner
