"""ReadOnlyTensor: the view of a tensor that is bound to the steps that read it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hetero.core.containers import ElementType
from hetero.core.tensor import Tensor


class ReadOnlyTensor(Tensor):
    """Another tensor, whose contents cannot be changed through this one.

    Writing to ``array`` or ``data`` raises ValueError, as numpy does for read-only arrays. So a device that writes to
    its inputs fails and does not damage what other steps or the user read.
    """

    def __init__(self, tensor: Tensor) -> None:
        self._tensor = tensor
        self._whole, self._owns_memory = None, False

    @property
    def array(self) -> np.ndarray:
        view = self._tensor.array.view()
        # By position, which the stub does not allow: by keyword, the call takes three times as long.
        view.setflags(False)  # type: ignore[call-arg]
        return view

    @property
    def element_type(self) -> ElementType:
        return self._tensor.element_type

    @property
    def lengths(self) -> tuple[int, ...]:
        return self._tensor.lengths

    def set_shape(self, shape: Sequence[int]) -> None:
        """Raise ValueError if the shape differs from the present one."""
        if tuple(shape) != self.lengths:
            raise ValueError(f"an input of the shape {list(self.shape)} is read-only and cannot take {list(shape)}")

    def __dlpack__(self, **arguments: Any) -> Any:
        # DLPack before version 1 has no read-only flag, and numpy refuses to export a read-only array.
        return self._tensor.__dlpack__(**arguments)
