"""Element types of tensors, under OpenVINO's names."""

from __future__ import annotations

import enum
import functools
from typing import Any

import numpy as np

from hetero.system.errors import ElementTypeError

# The numpy dtype of each type. A string names a dtype of ml_dtypes. Types without any numpy dtype are one-byte records
# whose field has the type's name: their codes can be moved and viewed as u8, but there is no arithmetic.
_DTYPES: dict[str, Any] = {
    "boolean": np.bool_, "bf16": "bfloat16", "f16": np.float16, "f32": np.float32, "f64": np.float64,
    "i2": "int2", "i4": "int4", "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
    "u1": "uint1", "u2": "uint2", "u3": [("u3", np.uint8)], "u4": "uint4", "u6": [("u6", np.uint8)],
    "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64,
    "nf4": [("nf4", np.uint8)], "f4e2m1": "float4_e2m1fn", "f6e2m3": "float6_e2m3fn", "f6e3m2": "float6_e3m2fn",
    "f8e4m3": "float8_e4m3fn", "f8e5m2": "float8_e5m2", "f8e8m0": "float8_e8m0fnu",
    "f8e4m3fnuz": "float8_e4m3fnuz", "f8e5m2fnuz": "float8_e5m2fnuz",
    "string": np.str_,
}  # fmt: skip

# Bits per element of the sub-byte types; in numpy each element takes a byte.
_BITS = {
    "i2": 2, "i4": 4, "u1": 1, "u2": 2, "u3": 3, "u4": 4, "u6": 6, "nf4": 4, "f4e2m1": 4, "f6e2m3": 6, "f6e3m2": 6,
}  # fmt: skip

# The names in str() and repr(), where they are not the names of the types.
_LONG_NAMES = {
    "boolean": "char", "bf16": "bfloat16", "f16": "float16", "f32": "float32", "f64": "double64", "nf4": "nfloat4",
    **{f"i{bits}": f"int{bits}_t" for bits in (2, 4, 8, 16, 32, 64)},
    **{f"u{bits}": f"uint{bits}_t" for bits in (1, 2, 3, 4, 6, 8, 16, 32, 64)},
}  # fmt: skip

_QUANTIZED = {"i4", "i8", "i32", "u8", "nf4", "f4e2m1", "f8e4m3", "f8e5m2", "f8e8m0"}


class Type(enum.Enum):
    """Element type of a tensor: ``Type.f32``, or made from a numpy dtype: ``Type(np.float32)``.

    i2, the f6 and the fnuz types come from ONNX; OpenVINO has all others too. In numpy an element of a sub-byte
    type takes a byte.
    """

    dynamic = "dynamic"
    boolean = "boolean"
    bf16 = "bf16"
    f16 = "f16"
    f32 = "f32"
    f64 = "f64"
    i2 = "i2"
    i4 = "i4"
    i8 = "i8"
    i16 = "i16"
    i32 = "i32"
    i64 = "i64"
    u1 = "u1"
    u2 = "u2"
    u3 = "u3"
    u4 = "u4"
    u6 = "u6"
    u8 = "u8"
    u16 = "u16"
    u32 = "u32"
    u64 = "u64"
    nf4 = "nf4"
    f4e2m1 = "f4e2m1"
    f6e2m3 = "f6e2m3"
    f6e3m2 = "f6e3m2"
    f8e4m3 = "f8e4m3"
    f8e5m2 = "f8e5m2"
    f8e8m0 = "f8e8m0"
    f8e4m3fnuz = "f8e4m3fnuz"
    f8e5m2fnuz = "f8e5m2fnuz"
    string = "string"

    @classmethod
    def _missing_(cls, value: object) -> Type:
        # A string may come from a file, and np.dtype() accepts far more strings than type names.
        kind = _BY_DTYPE_NAME.get(value) if isinstance(value, str) else cls._of_dtype(value)
        if kind is None:
            raise ElementTypeError(f"{value!r} is no element type; use a name such as f32, or a numpy dtype")
        return kind

    @classmethod
    def _of_dtype(cls, value: Any) -> Type | None:
        try:
            dtype = np.dtype(value)
        except TypeError:
            return None
        if dtype.kind in "SUT":
            return cls.string
        if dtype.names:
            return cls(dtype.names[0]) if len(dtype.names) == 1 and dtype.names[0] in _DTYPES else None
        return _BY_DTYPE_NAME.get(dtype.name)

    def to_dtype(self) -> np.dtype:
        """Return the numpy dtype that holds this type. Raises ValueError for ``dynamic``, which has none."""
        return self._numpy_type

    @functools.cached_property
    def _numpy_type(self) -> np.dtype:
        if self is Type.dynamic:
            raise ValueError("the dynamic type has no numpy dtype")
        dtype = _DTYPES[self.value]
        if isinstance(dtype, str):
            import ml_dtypes

            dtype = getattr(ml_dtypes, dtype)
        return np.dtype(dtype)

    def to_string(self) -> str:
        """Return the name of the type, as used in IR files and messages: ``f32``."""
        return self.value

    get_type_name = to_string

    @property
    def size(self) -> int:
        """Bytes of one element in numpy, 0 for ``dynamic``."""
        return 0 if self is Type.dynamic else self.to_dtype().itemsize

    def get_size(self) -> int:
        return self.size

    @property
    def bitwidth(self) -> int:
        """Bits of one element."""
        return _BITS.get(self.value) or 8 * self.size

    def get_bitwidth(self) -> int:
        return self.bitwidth

    def is_static(self) -> bool:
        return self is not Type.dynamic

    def is_dynamic(self) -> bool:
        return self is Type.dynamic

    def is_real(self) -> bool:
        return self.value[0] == "f" or self is Type.bf16

    def is_integer(self) -> bool:
        """Return True for integers of any width, False for boolean."""
        return self.value[0] in "iu" and self.value[1:].isdigit()

    def is_integral(self) -> bool:
        """Return True for all types that are not real, also for boolean, string and dynamic, as in OpenVINO."""
        return not self.is_real()

    def is_integral_number(self) -> bool:
        """Return True for all types that are neither real nor boolean, as in OpenVINO."""
        return self.is_integral() and self is not Type.boolean

    def is_signed(self) -> bool:
        """Return True for types with negative values, and for boolean, as in OpenVINO."""
        return self.is_real() or self.value[0] == "i" or self is Type.boolean

    def is_quantized(self) -> bool:
        """Return True for the types that hold quantized values: 4 and 8 bits, and i32 for biases, as in OpenVINO."""
        return self.value in _QUANTIZED

    type_name = property(to_string)
    real = property(is_real)
    integral = property(is_integral)
    integral_number = property(is_integral_number)
    signed = property(is_signed)
    quantized = property(is_quantized)

    def compatible(self, other: Type) -> bool:
        """Return whether both are the same type, or one is dynamic."""
        return self is other or self is Type.dynamic or other is Type.dynamic

    def merge(self, other: Type) -> Type | None:
        """Return the type of a value that has both types, or None if they are not compatible."""
        if not self.compatible(other):
            return None
        return other if self is Type.dynamic else self

    @property
    def cpp_name(self) -> str:
        """The name of the type in C++, as OpenVINO prints a Parameter."""
        return {"f32": "float", "f64": "double"}.get(self.value) or _LONG_NAMES.get(self.value, self.value)

    def __repr__(self) -> str:
        """Return OpenVINO's text: ``<Type: 'float32'>``."""
        return f"<Type: '{_LONG_NAMES.get(self.value, self.value)}'>"

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        """Return the name, so that a message has ``f32``."""
        return format(self.value, spec)


_BY_DTYPE_NAME = {
    (dtype if isinstance(dtype, str) else np.dtype(dtype).name): Type(name)
    for name, dtype in _DTYPES.items()
    if name != "string" and not isinstance(dtype, list)
}
# Type(dtype) is called for each tensor of an inference: as further values, numpy's own types are found at once.
Type._value2member_map_.update(
    {np.dtype(kind): Type(name) for name, kind in _DTYPES.items() if isinstance(kind, type) and name != "string"}
)


def lowest(dtype: np.dtype) -> float:
    """Return the lowest finite value of a type, which is the padding value of max pooling, as in OpenVINO."""
    if dtype.kind in "iu":
        return np.iinfo(dtype).min
    if dtype.kind == "b":
        return False
    import ml_dtypes  # its finfo supports bf16 in addition to numpy's types

    return float(ml_dtypes.finfo(dtype).min)
