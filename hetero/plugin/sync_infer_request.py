"""SyncInferRequest: one inference at a time, with its tensors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hetero.errors import TensorError
from hetero.graph import Output, port_name
from hetero.plugin.variable_state import VariableState
from hetero.shape import PartialShape
from hetero.tensor import Tensor
from hetero.types import Type

if TYPE_CHECKING:
    from hetero.plugin.compiled_model import CompiledModel


@dataclass(frozen=True)
class ProfilingInfo:
    """What one operation, subgraph or transfer of the last inference took. Times are in seconds."""

    node_name: str
    node_type: str
    exec_type: str
    real_time: float
    status: str = "EXECUTED"


class SyncInferRequest(ABC):
    """One inference at a time: a tensor for every port, and ``infer``, which an author defines.

    A tensor object bound to a port stays bound until ``set_tensor``; an inference changes what it
    holds, and its shape where that is dynamic. So several requests may share one.
    """

    def __init__(self, compiled_model: CompiledModel) -> None:
        self.compiled_model = compiled_model
        self._tensors: dict[Output, Tensor] = {}

    @abstractmethod
    def infer(self) -> None:
        """Compute the output tensors from the input tensors (required)."""

    def get_profiling_info(self) -> list[ProfilingInfo]:
        """What the last inference spent its time on, in order (optional); nothing without PERF_COUNT."""
        return []

    def query_state(self) -> list[VariableState]:
        """The state of each variable of the model, which the request keeps between inferences (optional)."""
        return []

    def cancel(self) -> None:
        """End a running inference early if the device can (optional)."""
        return

    def get_tensor(self, port: Output) -> Tensor:
        """The tensor of a port; made on first use, in the smallest shape that fits."""
        tensor = self._tensors.get(port)
        if tensor is None:
            partial = port.partial_shape if port.partial_shape.has_rank else PartialShape([-1])
            shape = [d.min_length for d in partial]
            element_type = Type.f32 if port.element_type.is_dynamic() else port.element_type
            tensor = self._tensors[port] = Tensor(element_type, shape)
        return tensor

    def set_tensor(self, port: Output, tensor: Tensor) -> None:
        """Bind a tensor to a port. Raises TensorError when type or shape do not fit the port."""
        check_tensor(port, tensor)
        self._tensors[port] = tensor

    def input_tensors(self) -> list[Tensor]:
        return [self.get_tensor(port) for port in self.compiled_model.inputs]

    def output_tensors(self) -> list[Tensor]:
        return [self.get_tensor(port) for port in self.compiled_model.outputs]

    def check_inputs(self) -> None:
        """Raise TensorError when an input tensor does not fit its port, as when none was set yet."""
        for port in self.compiled_model.inputs:
            check_tensor(port, self.get_tensor(port))


def check_tensor(port: Output, tensor: Tensor) -> None:
    """Raise TensorError when a tensor does not fit a port."""
    if tensor.element_type != port.element_type and not port.element_type.is_dynamic():
        problem = f"takes {port.element_type} elements, but the tensor has {tensor.element_type}"
    elif not port.partial_shape.compatible(tensor.shape):
        problem = f"takes the shape {port.partial_shape}, but the tensor has {list(tensor.shape)}"
    else:
        return
    raise TensorError(f"'{port_name(port)}' {problem}")
