"""The infer request: a proxy of a request that the worker keeps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeGuard, cast

import numpy as np

from hetero.core.tensor import Tensor
from hetero.graph import port_name
from hetero.plugin import ProfilingInfo, RemoteTensor, SyncInferRequest, VariableState
from hetero.system.errors import DeviceError
from hetero_ray.remote import RayMemory
from hetero_ray.shipping import View, view_of
from hetero_ray.variable_state import RayVariableState

if TYPE_CHECKING:
    from hetero_ray.compiled_model import RayCompiledModel


class RayInferRequest(SyncInferRequest):
    compiled_model: RayCompiledModel

    def __init__(self, compiled_model: RayCompiledModel) -> None:
        super().__init__(compiled_model)
        self._key = compiled_model.number, compiled_model.client.new_number(self, compiled_model.number)
        self._results: Sequence[Any] = ()
        self._profile: list[ProfilingInfo] = []

    def start(self) -> None:
        arrays: list[Any] = []
        views: list[View | None] = []
        for tensor in self.input_tensors():
            reference = cast(RayMemory, tensor.memory).reference(tensor.region) if _is_stored(tensor) else None
            arrays.append(_array_of(tensor) if reference is None else reference)
            views.append(None if reference is None else (f"{tensor.element_type}", tensor.lengths))
        compiled = self.compiled_model
        self._results = compiled.client.submit(compiled.infer_method, *self._key, views, *arrays)

    def wait(self) -> None:
        compiled, tensors = self.compiled_model, self.output_tensors()
        (outcome, *results), self._results = self._results, ()
        fetched = [result for result, tensor in zip(results, tensors) if not _is_stored(tensor)]
        answer, *arrays = compiled.client.get([outcome, *fetched], compiled.timeout)
        self._profile = answer.profile
        for port, tensor, result, (kind, shape) in zip(compiled.outputs, tensors, results, answer.outputs):
            if _is_stored(tensor):
                self._store(port_name(port), tensor, result, kind, shape)
            else:
                _write(tensor, arrays.pop(0))

    def cancel(self) -> None:
        super().cancel()
        self.compiled_model.client.send("cancel", *self._key)

    def get_profiling_info(self) -> list[ProfilingInfo]:
        return [*super().get_profiling_info(), *self._profile]

    def query_state(self) -> list[VariableState]:
        compiled = self.compiled_model
        return [RayVariableState(info, compiled.client, self._key) for info in compiled.variables]

    def _store(self, name: str, tensor: RemoteTensor, reference: Any, kind: str, shape: tuple[int, ...]) -> None:
        """Make an output in the object store the contents of a remote tensor."""
        if kind != f"{tensor.element_type}":
            device = self.compiled_model.device_name
            raise DeviceError(
                f"{device} gave a wrong output '{name}': it has {kind} elements, not {tensor.element_type}"
            )
        tensor.set_shape(shape)
        region, memory = tensor.region, cast(RayMemory, tensor.memory)
        if region.offset == 0 and region.is_continuous():
            memory.store(reference, region.byte_size)
        else:
            memory.write(region, view_of(self.compiled_model.client.get(reference), kind, shape))


def _is_stored(tensor: Tensor) -> TypeGuard[RemoteTensor]:
    return isinstance(tensor, RemoteTensor)


def _write(tensor: Tensor, array: np.ndarray) -> None:
    """Copy an array of the object store, which is read-only, to a tensor."""
    if tensor.array.dtype == array.dtype:
        tensor.copy_from(array)
    else:  # strings of another length, or a type that is dynamic in the model
        tensor.take(array.copy())


def _array_of(tensor: Tensor) -> np.ndarray:
    if not _is_stored(tensor):
        return tensor.array
    array = np.empty(tensor.shape, tensor.region.dtype)
    tensor.read(array)
    return array
