"""SharedVariable: a variable of a request that several steps may read or assign."""

from __future__ import annotations

from collections.abc import Sequence

from hetero.core.tensor import Tensor
from hetero.dispatch.cutting.plan import ExecutionStep, step_errors
from hetero.graph import VariableInfo
from hetero.plugin import SyncInferRequest, VariableState


class SharedVariable(VariableState):
    """A variable in the requests of one or several steps; ``states`` are theirs, by the index of the step.

    With ``keeps_snapshot`` the contents are copied to the host after each inference that assigns the variable, so that
    they can be restored after a failure and move to another device. Without, which is the default, they stay on the
    device; a failed or cancelled inference may leave them assigned or not.
    """

    def __init__(self, info: VariableInfo, keeps_snapshot: bool) -> None:
        super().__init__(info)
        self.states: dict[int, VariableState] = {}
        self.keeps_snapshot = keeps_snapshot
        self._snapshot: Tensor | None = None  # None after a reset

    def get_state(self) -> Tensor:
        if not self.keeps_snapshot:
            return next(iter(self.states.values())).state
        return self.empty() if self._snapshot is None else Tensor(self._snapshot.array)

    def set_state(self, tensor: Tensor) -> None:
        self.take_snapshot(Tensor(tensor.array))
        for state in self.states.values():
            state.state = tensor

    def reset(self) -> None:
        self._snapshot = None
        for state in self.states.values():
            state.reset()

    def assigned(self, step: int) -> Tensor | None:
        """Return the contents that a step assigned; None if neither another step nor a snapshot needs them."""
        return self.states[step].state if self.keeps_snapshot or len(self.states) > 1 else None

    def share(self, step: int, tensor: Tensor) -> None:
        """Copy the contents that one step assigned to the requests of all other steps."""
        for index, state in self.states.items():
            if index != step:
                state.state = tensor

    def take_snapshot(self, tensor: Tensor) -> None:
        """Let ``restore`` give these contents from now on."""
        self._snapshot = tensor if self.keeps_snapshot else None

    def restore(self, step: int) -> None:
        """Set the variable in the request of a step to the snapshot."""
        if self._snapshot is None:
            self.states[step].reset()
        else:
            self.states[step].state = self._snapshot


def states_by_name(
    steps: Sequence[ExecutionStep], requests: Sequence[SyncInferRequest], keeps_snapshots: bool
) -> dict[str, SharedVariable]:
    """Return the variables of the requests of these steps by their names. Raise StepError if a device fails."""
    shared: dict[str, SharedVariable] = {}
    for index, (step, request) in enumerate(zip(steps, requests)):
        with step_errors(step.device, f"list the variables of '{step.compiled.name}'"):
            states = list(request.query_state())
        for state in states:
            shared.setdefault(state.name, SharedVariable(state.info, keeps_snapshots)).states[index] = state
    return shared
