"""The OpenCL C texts beside this file, and the C names of element types."""

from __future__ import annotations

import functools
from pathlib import Path

from hetero.types import Type

C_TYPES = {
    Type.f32: "float", Type.i32: "int", Type.i64: "long", Type.boolean: "uchar", Type.u8: "uchar", Type.i8: "char",
    Type.i16: "short", Type.u16: "ushort", Type.u32: "uint", Type.u64: "ulong",
}  # fmt: skip


@functools.cache
def template(name: str) -> str:
    """The text of a .cl file of this folder."""
    return (Path(__file__).parent / f"{name}.cl").read_text()


def source(name: str, **macros: object) -> str:
    """The text of a .cl file with macros defined in front of it."""
    return "".join(f"#define {key} {value}\n" for key, value in macros.items()) + template(name)
