"""SharedVariable: a variable of a request, one object whichever steps read or assign it.

The same holds on one device and under any cut:

- All ReadValues of an inference give the contents from before it, or each its own initial value if there are none, also
  those that run after an Assign.
- What is assigned takes effect at the end of the inference. If several operations assign a variable, the last in
  topological order counts, and Assigns of the model itself come after those in bodies. If none does, as a branch is not
  taken or a loop has no iterations, the variable stays as it is, also without contents.
- Each run of a body is such an inference: an iteration reads what earlier ones of its loop assigned.
- After a reset the variable has no contents; reading its state gives zeros of the smallest shape that fits.
- Contents may have every shape that all ReadValues of the model allow.
- An inference that fails or is cancelled leaves the contents from before it, if several steps use the variable or the
  request keeps snapshots. Otherwise they stay on the device, and may be what the inference assigned.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hetero.core.tensor import Tensor
from hetero.dispatch.cutting.plan import ExecutionStep, step_errors
from hetero.dispatch.cutting.variable_use import VariableUse
from hetero.plugin import SyncInferRequest, VariableState


class SharedVariable(VariableState):
    """A variable in the requests of the steps that use it: ``states``, by the index of the step.

    If the contents are kept on the host, all steps that read the variable get them whenever they change. Otherwise,
    which is the default for a variable of one step, they stay on its device.
    """

    def __init__(self, use: VariableUse, states: Mapping[int, VariableState], keeps_snapshots: bool) -> None:
        super().__init__(use.info)
        self._contents: Tensor | None = None  # None after a reset
        self._use, self._states = use, states
        # The states of the steps that read the variable. One of fewer shapes is that of an Assign alone.
        self._readers = {
            index: state
            for index, state in states.items()
            if index in use.readers and state.info.data_shape.relaxes(use.info.data_shape)
        }
        self.is_kept = keeps_snapshots or len(use.steps) != 1 or not self._readers

    def rebind(self, other: SharedVariable) -> None:
        """Use the steps of the variable in another plan from now on."""
        self._use, self._states, self._readers = other._use, other._states, other._readers
        self.is_kept = other.is_kept

    def get_state(self) -> Tensor:
        if not self.is_kept:
            return next(iter(self._states.values())).state
        return self.empty() if self._contents is None else Tensor(self._contents.array)

    def set_state(self, tensor: Tensor) -> None:
        if self.is_kept:
            self._contents = Tensor(tensor.array)
        for state in self._readers.values():
            state.state = tensor

    def reset(self) -> None:
        self._contents = None
        for state in self._readers.values():
            state.reset()

    def assigned(self, steps: Sequence[ExecutionStep]) -> Tensor | None:
        """Return the contents that the last inference assigned, and give them to the other steps.

        Returns None if it assigned none, or if they stay on the device. Raises StepError if a device fails.
        """
        for index in reversed(self._use.setters if self.is_kept else ()):
            if index in self._states and self._states[index].is_assigned:
                with step_errors(steps[index].device, f"share the variable '{self.name}'"):
                    contents = self._states[index].state
                for reader, state in self._readers.items():
                    if reader != index:
                        with step_errors(steps[reader].device, f"share the variable '{self.name}'"):
                            state.state = contents
                return contents
        return None

    def keep(self, contents: Tensor) -> None:
        """Let ``restore`` give these contents from now on."""
        self._contents = contents

    def restore(self, step: int) -> None:
        """Give a step the contents from after the last inference that succeeded, if they are kept."""
        state = self._readers.get(step) if self.is_kept else None
        if state is None:
            return
        if self._contents is None:
            state.reset()
        else:
            state.state = self._contents


def states_by_name(
    uses: Sequence[VariableUse],
    steps: Sequence[ExecutionStep],
    requests: Sequence[SyncInferRequest],
    keeps_snapshots: bool,
) -> dict[str, SharedVariable]:
    """Return the variables of a plan by their names. Raise StepError if a device fails."""
    states: dict[str, dict[int, VariableState]] = {use.info.variable_id: {} for use in uses}
    steps_of = {use.info.variable_id: use.steps for use in uses}
    for index, (step, request) in enumerate(zip(steps, requests)):
        with step_errors(step.device, f"list the variables of '{step.compiled.name}'"):
            for state in request.query_state():
                if index in steps_of.get(state.name, ()):
                    states[state.name][index] = state
    return {use.info.variable_id: SharedVariable(use, states[use.info.variable_id], keeps_snapshots) for use in uses}
