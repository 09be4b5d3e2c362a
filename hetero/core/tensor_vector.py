"""TensorVector: a list of tensors, as OpenVINO's functions take it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import SupportsIndex

from hetero.core.tensor import Tensor
from hetero.system.errors import ArgumentTypeError


class TensorVector(list[Tensor]):
    """A list of tensors. Raises ArgumentTypeError if an element is none."""

    def __init__(self, tensors: Iterable[Tensor] = ()) -> None:
        super().__init__(map(_as_tensor, tensors))

    def append(self, x: Tensor) -> None:
        super().append(_as_tensor(x))

    def extend(self, L: Iterable[Tensor]) -> None:  # OpenVINO's name
        super().extend(map(_as_tensor, L))

    def insert(self, i: SupportsIndex, x: Tensor) -> None:
        super().insert(i, _as_tensor(x))

    def pop(self, i: SupportsIndex = -1) -> Tensor:
        return super().pop(i)

    def __repr__(self) -> str:
        return f"<TensorVector: {list(self)}>"


def _as_tensor(value: Tensor) -> Tensor:
    if not isinstance(value, Tensor):
        raise ArgumentTypeError(f"a TensorVector consists of tensors, not of {type(value).__name__}")
    return value
