"""Step: a compiled subgraph as a part of the execution plan, and the error that a device raises at it."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from types import TracebackType

from hetero.graph import Output
from hetero.plugin import CompiledModel, SyncInferRequest
from hetero.system.errors import DeviceError, device_errors


class StepError(DeviceError):
    """The error of a device at a step. The user gets ``error`` itself, unless another device can run the step."""

    def __init__(self, device: str, error: Exception) -> None:
        super().__init__(str(error))
        self.device, self.error = device, error


class step_errors(contextlib.AbstractContextManager[None]):
    """Context manager that raises the errors of a device as StepError.

    A class and not a generator, because a generator cannot pass on StopIteration.
    """

    def __init__(self, device: str) -> None:
        self._device = device

    def __exit__(self, kind: type | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        if isinstance(error, Exception):
            raise StepError(self._device, error) from error


@dataclass(frozen=True)
class ExecutionStep:
    """A compiled subgraph, and the indices of the steps that it depends on and that depend on it."""

    name: str
    device: str
    compiled: CompiledModel
    waits_for: frozenset[int] = frozenset()
    readers: frozenset[int] = frozenset()

    def create_request(self) -> SyncInferRequest:
        """Return a new request of the compiled subgraph. Raise StepError if the device fails."""
        problem = f"{self.device} failed to create a request of '{self.compiled.name}'"
        with step_errors(self.device), device_errors(problem):
            request = self.compiled.create_sync_infer_request()
            if not isinstance(request, SyncInferRequest):
                raise DeviceError(f"{problem}: it returned {type(request).__name__}, not a SyncInferRequest")
            return request


@dataclass(frozen=True)
class StepPort:
    """An input or output port of a step, by the index of the step."""

    step: int
    port: Output
