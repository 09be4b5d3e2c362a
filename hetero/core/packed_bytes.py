"""The bytes of a tensor whose elements share bytes, as OpenVINO's Tensor.data shows them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hetero.core.packing import pack
from hetero.core.types import Type


class PackedBytes(np.ndarray):
    """A 1-D array of packed elements. Assigning to items also changes the tensor."""

    _on_change: Callable[[np.ndarray], None] | None = None

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(key, value)
        if self._on_change is not None:
            self._on_change(np.asarray(self).view(np.uint8))


def packed_bytes(array: np.ndarray, kind: Type, padding: int, on_change: Callable[[np.ndarray], None]) -> PackedBytes:
    """Return the elements of an array packed into bytes, of i8 for signed integers.

    ``padding``: the bits of the last byte after the last element. ``on_change`` is called with the changed bytes.
    """
    content = pack(array, kind)
    content[-1:] |= np.uint8(padding)
    data = content.view(np.int8 if kind.is_integral() and kind.is_signed() else np.uint8).view(PackedBytes)
    data._on_change = on_change
    return data
