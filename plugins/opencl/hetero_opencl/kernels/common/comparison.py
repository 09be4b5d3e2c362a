"""Exact comparison of numbers of different element types."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from hetero.core.types import Type
from hetero_opencl.kernels.common.sources import ELEMENTS, source, template


def is_comparable(kinds: Collection[Type]) -> bool:
    """Return whether kernels compare numbers of these types: not u64 with signed integers."""
    return Type.u64 not in kinds or all(kind.is_real() or not kind.is_signed() for kind in kinds)


def _wide_type(kinds: Collection[Type]) -> Type:
    """Return the type in which two types are compared first."""
    if any(kind.is_real() for kind in kinds):
        return Type.f64 if Type.f64 in kinds else Type.f32
    return Type.u64 if Type.u64 in kinds else Type.i64


def comparison_source(name: str, types: Mapping[str, Type], **macros: object) -> str:
    """Return the text of a .cl file that calls ``compare`` on numbers of the comparable types LEFT and RIGHT."""
    kinds = types["LEFT"], types["RIGHT"]
    exact = "ulong" if Type.u64 in kinds else "long"
    macros |= {"WIDE": ELEMENTS[_wide_type(kinds)].value, "EXACT": exact, "CONVERT": f"convert_{exact}_sat"}
    return source("comparison", types, **macros) + template(name)
