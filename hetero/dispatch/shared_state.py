"""SharedState: a variable that the requests of several steps have."""

from __future__ import annotations

from collections.abc import Sequence

from hetero.dispatch.plan import Step, step_errors
from hetero.errors import device_errors
from hetero.graph import VariableInfo
from hetero.plugin import SyncInferRequest, VariableState
from hetero.tensor import Tensor


class SharedState(VariableState):
    """A variable that the requests of several steps have, by the indices of the steps.

    With ``keeps``, the contents are on the host too: from there other devices get them when one fails.
    """

    def __init__(self, info: VariableInfo, keeps: bool) -> None:
        super().__init__(info)
        self.states: dict[int, VariableState] = {}
        self.keeps = keeps
        self._contents: Tensor | None = None

    def get_state(self) -> Tensor:
        if not self.keeps:
            return next(iter(self.states.values())).state
        return self.empty() if self._contents is None else Tensor(self._contents.data)

    def set_state(self, tensor: Tensor) -> None:
        self.keep(Tensor(tensor.data))
        for state in self.states.values():
            state.state = tensor

    def reset(self) -> None:
        self._contents = None
        for state in self.states.values():
            state.reset()

    def assigned(self, step: int) -> Tensor | None:
        """What a step assigned; None where nobody else wants it."""
        return self.states[step].state if self.keeps or len(self.states) > 1 else None

    def share(self, step: int, tensor: Tensor) -> None:
        """Let the requests of all other steps have it too."""
        for index, state in self.states.items():
            if index != step:
                state.state = tensor

    def keep(self, tensor: Tensor) -> None:
        """From now on these are the contents that ``restore`` gives."""
        self._contents = tensor if self.keeps else None

    def restore(self, step: int) -> None:
        """Let the request of a step have the contents that are kept."""
        if self._contents is None:
            self.states[step].reset()
        else:
            self.states[step].state = self._contents


def states_by_name(steps: Sequence[Step], requests: Sequence[SyncInferRequest], keeps: bool) -> dict[str, SharedState]:
    """Return the variables of the requests of these steps by their names. Raises StepError."""
    shared: dict[str, SharedState] = {}
    for index, (step, request) in enumerate(zip(steps, requests)):
        problem = f"{step.device} failed to list the variables of '{step.compiled.name}'"
        with step_errors(step.device), device_errors(problem):
            states = list(request.query_state())
        for state in states:
            shared.setdefault(state.name, SharedState(state.info, keeps)).states[index] = state
    return shared
