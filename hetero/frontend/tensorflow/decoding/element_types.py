"""TensorFlow's element types (DataType in types.proto) and shapes."""

from __future__ import annotations

import numpy as np

from hetero.core.shape import Dimension, PartialShape
from hetero.core.types import Type
from hetero.frontend.protobuf import Message
from hetero.system.errors import FrontendError

# The Type of each number of DataType. Quantized types are the integers that they are stored as.
_TYPES = {
    1: Type.f32, 2: Type.f64, 3: Type.i32, 4: Type.u8, 5: Type.i16, 6: Type.i8, 7: Type.string, 9: Type.i64,
    10: Type.boolean, 11: Type.i8, 12: Type.u8, 13: Type.i32, 14: Type.bf16, 15: Type.i16, 16: Type.u16, 17: Type.u16,
    19: Type.f16, 22: Type.u32, 23: Type.u64, 24: Type.f8e5m2, 25: Type.f8e4m3, 29: Type.i4, 30: Type.u4,
}  # fmt: skip
_COMPLEX: dict[int, np.dtype] = {8: np.dtype(np.complex64), 18: np.dtype(np.complex128)}
RESOURCE, VARIANT = 20, 21
# References of the first version of TensorFlow: the type of a variable's contents plus this number.
_REFERENCE = 100


def type_of(number: int) -> Type:
    """Return the Type of a DataType; dynamic for complex numbers, resources and variants, which have no Type."""
    return _TYPES.get(number % _REFERENCE, Type.dynamic)


def complex_dtype(number: int) -> np.dtype | None:
    """Return the numpy dtype of a complex DataType, None for other types."""
    return _COMPLEX.get(number % _REFERENCE)


def dtype_of(number: int) -> np.dtype:
    """Return the numpy dtype of the elements of a DataType. Raises FrontendError if it has none."""
    if complex_type := complex_dtype(number):
        return complex_type
    if type_of(number).is_dynamic():
        raise FrontendError(f"tensors of TensorFlow's type {number} are not supported")
    return type_of(number).to_dtype()


def shape_of(shape: Message) -> PartialShape:
    """Return the PartialShape of a TensorShapeProto, in which -1 is an unknown dimension. Raises FrontendError."""
    if shape.unknown_rank:
        return PartialShape.dynamic()
    sizes = [dimension.size for dimension in shape.dim]
    if any(size < -1 for size in sizes):
        raise FrontendError(f"a shape has the dimensions {sizes}")
    return PartialShape([Dimension() if size < 0 else Dimension(size) for size in sizes])
