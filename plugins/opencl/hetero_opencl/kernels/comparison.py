"""Exact comparison of numbers of different types, even on devices without f64."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from hetero.types import Type
from hetero_opencl.kernels.sources import ELEMENTS, source, template


def wide_type(kinds: Collection[Type]) -> Type | None:
    """Return the type in which two types are compared first, or None for u64 with a signed type."""
    if any(kind.is_real() for kind in kinds):
        return Type.f64 if Type.f64 in kinds else Type.f32
    if Type.u64 in kinds:
        return None if any(kind.is_signed() for kind in kinds) else Type.u64
    return Type.i64


def comparison_source(name: str, types: Mapping[str, Type], **macros: object) -> str:
    """Return the text of a .cl file that calls ``compare`` on numbers of the types LEFT and RIGHT."""
    kinds = types["LEFT"], types["RIGHT"]
    exact = "ulong" if Type.u64 in kinds else "long"
    wide = ELEMENTS[wide_type(kinds)].value
    return source("comparison", types, WIDE=wide, EXACT=exact, CONVERT=f"convert_{exact}_sat", **macros) + template(
        name
    )
