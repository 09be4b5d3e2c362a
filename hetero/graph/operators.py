"""Arithmetic operators of nodes: ``a + b``, ``2 * a``, ``1 / a``, and numpy's functions of the same meaning."""

from __future__ import annotations

from typing import Any

import numpy as np

from hetero.graph.upper_layers import need

_UFUNCS = {np.add: "Add", np.subtract: "Subtract", np.multiply: "Multiply", np.divide: "Divide"}


class Arithmetic:
    """Operators with nodes, arrays and numbers; a number takes the element type of the node."""

    def __add__(self, other: Any) -> Any:
        return _apply("Add", self, other)

    def __radd__(self, other: Any) -> Any:
        return _apply("Add", other, self)

    def __sub__(self, other: Any) -> Any:
        return _apply("Subtract", self, other)

    def __rsub__(self, other: Any) -> Any:
        return _apply("Subtract", other, self)

    def __mul__(self, other: Any) -> Any:
        return _apply("Multiply", self, other)

    def __rmul__(self, other: Any) -> Any:
        return _apply("Multiply", other, self)

    def __truediv__(self, other: Any) -> Any:
        return _apply("Divide", self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return _apply("Divide", other, self)

    def __array_ufunc__(self, function: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        if method != "__call__" or options or function not in _UFUNCS:
            return NotImplemented
        return _apply(_UFUNCS[function], *inputs)


def _apply(name: str, left: Any, right: Any) -> Any:
    operands = (left, right)
    if not all(isinstance(operand, (Arithmetic, np.ndarray, np.generic, int, float)) for operand in operands):
        return NotImplemented
    return getattr(need("operations"), name)(*(_operand(operand, operands) for operand in operands))


def _operand(operand: Any, operands: tuple[Any, Any]) -> Any:
    """Return a number as an array of the element type of the other operand, anything else as it is."""
    if isinstance(operand, (Arithmetic, np.ndarray)):
        return operand
    node = next(one for one in operands if isinstance(one, Arithmetic))
    kind = node.get_element_type()  # type: ignore[attr-defined]  # every Arithmetic is a Node
    return np.asarray(operand, None if kind.is_dynamic() else kind.to_dtype())
