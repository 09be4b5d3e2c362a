"""State of a variable on the device."""

from __future__ import annotations

from hetero.core.tensor import Tensor
from hetero.graph import VariableInfo
from hetero.plugin import VariableState
from hetero_opencl.execute.remote import OpenCLContext


class OpenCLVariableState(VariableState):
    """Two device tensors: programs read ``current`` and write ``following``; ``advance`` swaps them.

    While ``is_set`` is False, the next inference starts from the initial value.
    """

    is_assigned = False

    def __init__(self, info: VariableInfo, context: OpenCLContext) -> None:
        super().__init__(info)
        self.is_set = False
        shape = self.empty().shape
        #: ``current`` is read by the next inference, ``following`` receives the value for the one after it.
        self.current, self.following = (context.create_tensor(info.data_type, shape) for _ in range(2))

    def advance(self) -> None:
        """Make the value that the last inference wrote the current one."""
        self.current, self.following = self.following, self.current
        self.is_set = True

    def get_state(self) -> Tensor:
        tensor = self.empty()
        if self.is_set:
            self.current.copy_to(tensor)
        return tensor

    def set_state(self, tensor: Tensor) -> None:
        self.current.copy_from(tensor)
        self.is_set = True

    def reset(self) -> None:
        self.is_set = False
