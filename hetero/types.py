"""Element types of tensors, under OpenVINO's names."""

from __future__ import annotations

import enum

import numpy as np

# The numpy dtype of each type; a name in quotes is one that ml_dtypes adds to numpy.
_DTYPES: dict[str, object] = {
    "boolean": np.bool_, "bf16": "bfloat16", "f16": np.float16, "f32": np.float32, "f64": np.float64,
    "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
    "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64,
    "string": np.str_,
}  # fmt: skip


class Type(enum.Enum):
    """Element type of a tensor: ``Type.f32``, or made from a numpy dtype: ``Type(np.float32)``."""

    dynamic = "dynamic"
    boolean = "boolean"
    bf16 = "bf16"
    f16 = "f16"
    f32 = "f32"
    f64 = "f64"
    i8 = "i8"
    i16 = "i16"
    i32 = "i32"
    i64 = "i64"
    u8 = "u8"
    u16 = "u16"
    u32 = "u32"
    u64 = "u64"
    string = "string"

    @classmethod
    def _missing_(cls, value: object) -> Type | None:
        try:
            dtype = np.dtype(value)  # type: ignore[call-overload]
        except TypeError:
            return None
        if dtype.kind in "SU":
            return cls.string
        name = dtype.name
        return _BY_DTYPE_NAME.get(name)

    def to_dtype(self) -> np.dtype:
        """The numpy dtype that holds this type. Raises ValueError for ``dynamic``, which has none."""
        if self is Type.dynamic:
            raise ValueError("the dynamic type has no numpy dtype")
        dtype = _DTYPES[self.value]
        if isinstance(dtype, str):
            import ml_dtypes

            dtype = getattr(ml_dtypes, dtype)
        return np.dtype(dtype)

    def to_string(self) -> str:
        """The name of the type, as used in IR files and messages: ``f32``."""
        return self.value

    get_type_name = to_string

    @property
    def size(self) -> int:
        """Bytes of one element."""
        return self.to_dtype().itemsize

    @property
    def bitwidth(self) -> int:
        """Bits of one element."""
        return 8 * self.size

    def is_static(self) -> bool:
        return self is not Type.dynamic

    def is_dynamic(self) -> bool:
        return self is Type.dynamic

    def is_real(self) -> bool:
        return self.value in ("bf16", "f16", "f32", "f64")

    def is_integral(self) -> bool:
        """True for integers of any width; false for boolean, as a boolean does not count."""
        return self.value[0] in "iu" and self.value[1:].isdigit()

    def is_signed(self) -> bool:
        """True for what may be negative; of a boolean too, as OpenVINO has it."""
        return self.is_real() or self.value[0] == "i" or self is Type.boolean

    def __repr__(self) -> str:
        return f"<Type: '{self.value}'>"

    def __str__(self) -> str:
        return self.value


_BY_DTYPE_NAME = {
    (dtype if isinstance(dtype, str) else np.dtype(dtype).name): Type(name)  # type: ignore[arg-type]
    for name, dtype in _DTYPES.items()
    if name != "string"
}
