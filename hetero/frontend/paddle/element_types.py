"""Element types of PaddlePaddle: numbers in ProgramDesc, names in JSON programs."""

from __future__ import annotations

from hetero.core.types import Type
from hetero.system.errors import FrontendError

_BY_NUMBER = {
    0: Type.boolean, 1: Type.i16, 2: Type.i32, 3: Type.i64, 4: Type.f16, 5: Type.f32, 6: Type.f64, 20: Type.u8,
    21: Type.i8, 22: Type.bf16, 32: Type.f8e4m3, 33: Type.f8e5m2, 36: Type.u16, 37: Type.u32, 38: Type.u64,
}  # fmt: skip
_BY_NAME = {
    "bool": Type.boolean, "int8": Type.i8, "int16": Type.i16, "int32": Type.i32, "int64": Type.i64, "uint8": Type.u8,
    "float16": Type.f16, "float32": Type.f32, "float64": Type.f64, "bfloat16": Type.bf16,
    "float8_e4m3fn": Type.f8e4m3, "float8_e5m2": Type.f8e5m2,
}  # fmt: skip
# The names of types of values in JSON programs.
_BY_VALUE_TYPE = {
    "t_bool": "bool", "t_i8": "int8", "t_i16": "int16", "t_i32": "int32", "t_i64": "int64", "t_ui8": "uint8",
    "t_f16": "float16", "t_f32": "float32", "t_f64": "float64", "t_bf16": "bfloat16", "t_f8e4m3fn": "float8_e4m3fn",
    "t_f8e5m2": "float8_e5m2",
}  # fmt: skip


def type_of(code: int | str) -> Type:
    """Return the type of a number or name. Raises FrontendError if it is not supported."""
    kind = _BY_NUMBER.get(code) if isinstance(code, int) else _BY_NAME.get(code)
    if kind is None:
        raise FrontendError(f"element type {code} is not supported")
    return kind


def is_undefined(code: int | str) -> bool:
    """Return whether an attribute leaves the type open."""
    return code == -1 or (isinstance(code, str) and code.lower().startswith("undefined"))


def value_type(name: str) -> Type:
    """Return the type of elements of a value in a JSON program, dynamic if it is not supported."""
    return _BY_NAME[_BY_VALUE_TYPE[name]] if name in _BY_VALUE_TYPE else Type.dynamic
