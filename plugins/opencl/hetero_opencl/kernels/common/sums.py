"""Element types of kernels that sum products: of factors, of sums, and of results."""

from __future__ import annotations

from typing import NamedTuple

from hetero.core.types import Type
from hetero_opencl.kernels.common.sources import ELEMENTS, source

# C types of sums. Integer sums wrap around, which C defines only for unsigned types.
SUMS = {
    **dict.fromkeys((Type.f32, Type.f16, Type.bf16), "float"), Type.f64: "double",
    **dict.fromkeys((Type.i8, Type.u8, Type.i16, Type.u16, Type.i32, Type.u32), "uint"),
    **dict.fromkeys((Type.i64, Type.u64), "ulong"),
}  # fmt: skip
OF_8_BYTES = ("double", "ulong")


def wide_type(kind: Type) -> Type:
    """Return the type of sums that are passed from one launch to the next, so that they are rounded once."""
    return Type.f32 if kind in (Type.f16, Type.bf16) else kind


class ProductTypes(NamedTuple):
    """Element types: all floating-point or all integers; and all f64 or none, all of 64 bits or none."""

    left: Type = Type.f32
    right: Type = Type.f32
    result: Type = Type.f32


SINGLE = ProductTypes()


def source_of_sums(name: str, types: ProductTypes, prelude: str = "", **macros: object) -> str:
    """Return the text of a .cl file that sums products of LEFT and RIGHT in SUM and stores RESULT."""
    total = SUMS[types.result]
    names = {"LEFT": types.left, "RIGHT": types.right, "RESULT": types.result}
    macros |= {"SUM": total, **{f"SUM{width}": f"{total}{width}" for width in (4, 8, 16)}}
    macros |= {f"WIDEN_{key}(x)": _widened(kind, total) for key, kind in names.items()}
    macros["NARROW(x)"] = "(x)" if types.result.is_real() else f"convert_{ELEMENTS[types.result].value}16(x)"
    return source(name, names, prelude, **macros)


def _widened(kind: Type, total: str) -> str:
    """Return the macro body that converts 16 elements to the type of sums."""
    if kind.is_real():
        return "(x)"
    # Through the signed type, which preserves the sign of the elements.
    return f"as_{total}16(convert_{total[1:]}16(x))" if kind.is_signed() else f"convert_{total}16(x)"
