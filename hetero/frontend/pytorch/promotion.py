"""Type promotion, as torch does it: https://docs.pytorch.org/docs/stable/tensor_attributes.html#type-promotion-doc"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np

from hetero.core.types import Type
from hetero.graph import Output

# Kinds of element types, lower ones first.
_BOOLEAN, _INTEGER, _FLOAT = range(3)
_DEFAULTS = {_BOOLEAN: Type.boolean, _INTEGER: Type.i64, _FLOAT: Type.f32}


def promoted_type(operands: Sequence[Any]) -> Type:
    """Return the element type of the result for operands that are Outputs or Python numbers.

    Tensors with dimensions come before those without, and these before numbers: others count only if they are of a
    higher kind (boolean, integer, floating point).
    """
    groups: list[list[Type]] = [[], [], []]
    for operand in operands:
        if isinstance(operand, Output):
            rank = len(operand.partial_shape) if operand.partial_shape.has_rank else 1
            groups[0 if rank else 1].append(operand.element_type)
        else:
            groups[2].append(_DEFAULTS[_kind_of_number(operand)])
    result: Type | None = None
    for group in groups:
        if group:
            common = reduce(_common, group)
            if result is None or _kind(common) > _kind(result):
                result = common
    assert result is not None
    return result


def _kind(element_type: Type) -> int:
    if element_type is Type.boolean:
        return _BOOLEAN
    return _FLOAT if element_type.is_real() else _INTEGER


def _kind_of_number(number: Any) -> int:
    if isinstance(number, bool):
        return _BOOLEAN
    return _INTEGER if isinstance(number, int) else _FLOAT


def _common(left: Type, right: Type) -> Type:
    if left is right:
        return left
    if _kind(left) != _kind(right):
        return left if _kind(left) > _kind(right) else right
    if {left, right} == {Type.f16, Type.bf16}:
        return Type.f32
    if _kind(left) == _INTEGER:
        return Type(np.promote_types(left.to_dtype(), right.to_dtype()))
    return left if left.size > right.size else right
