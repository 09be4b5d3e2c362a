"""Checks of attributes in dictionaries, for factories that take them so."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from hetero.system.errors import GraphError

Condition = Callable[[Any], bool]


def assert_list_of_ints(value_list: Iterable[int], message: str) -> None:
    """Raise GraphError with the message if a value is not a list of whole numbers."""
    if not np.iterable(value_list) or not all(isinstance(value, int) for value in value_list):
        raise GraphError(f"{message}: {value_list!r}")


def check_valid_attribute(
    op_name: str,
    attr_dict: Mapping[str, Any],
    attr_key: str,
    val_type: type,
    cond: Condition | None = None,
    required: bool | None = False,
) -> bool:
    """Return True if an attribute, or each element of it, is of a type and meets a condition, else raise GraphError.

    An attribute that is missing is an error only if it is required.
    """
    if attr_key not in attr_dict:
        if required:
            raise GraphError(f"{op_name}: attribute {attr_key} is missing")
        return True
    value = attr_dict[attr_key]
    for item in [value] if np.isscalar(value) else value:
        if not np.issubdtype(type(item), val_type):
            raise GraphError(f"{op_name}: attribute {attr_key} must be of type {val_type}, but is {value!r}")
        if cond is not None and not cond(item):
            raise GraphError(f"{op_name}: attribute {attr_key} cannot be {value!r}")
    return True


def check_valid_attributes(
    op_name: str, attributes: Mapping[str, Any], requirements: Iterable[tuple[str, bool, type, Condition | None]]
) -> bool:
    """Check each attribute in ``requirements``: name, whether it is required, type, and condition."""
    return all(
        check_valid_attribute(op_name, attributes, name, kind, condition, required)
        for name, required, kind, condition in requirements
    )


def is_positive_value(value: Any) -> bool:
    return value > 0


def is_non_negative_value(value: Any) -> bool:
    return value >= 0
