"""The state of a variable: a tensor of the device that programs read, and one that they write the next value to."""

from __future__ import annotations

from hetero.graph import VariableInfo
from hetero.plugin import VariableState
from hetero.tensor import Tensor
from hetero_opencl.remote import OpenCLContext


class OpenCLVariableState(VariableState):
    """Contents count while ``is_set``; otherwise the next inference begins with the initial value."""

    def __init__(self, info: VariableInfo, context: OpenCLContext) -> None:
        super().__init__(info)
        self.is_set = False
        shape = self.empty().shape
        #: What the next inference reads, and where it writes what the one after it reads.
        self.current, self.following = (context.create_tensor(info.data_type, shape) for _ in range(2))

    def advance(self) -> None:
        """Let what an inference wrote be the contents."""
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
