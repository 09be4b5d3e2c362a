"""The state of a variable, which the worker keeps with the request."""

from __future__ import annotations

from hetero.core.tensor import Tensor
from hetero.graph import VariableInfo
from hetero.plugin import VariableState
from hetero_ray.worker_client import WorkerClient


class RayVariableState(VariableState):
    def __init__(self, info: VariableInfo, client: WorkerClient, key: tuple[int, int]) -> None:
        super().__init__(info)
        self._client, self._key = client, key

    @property
    def is_assigned(self) -> bool:
        return self._client.call("is_assigned", *self._key, self.name)

    def get_state(self) -> Tensor:
        return Tensor(self._client.call("get_state", *self._key, self.name))

    def set_state(self, tensor: Tensor) -> None:
        self._client.call("set_state", *self._key, self.name, tensor.array)

    def reset(self) -> None:
        self._client.call("reset_state", *self._key, self.name)
