"""The infer request: evaluates the operations in order."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from hetero import properties as props
from hetero.errors import DeviceError
from hetero.plugin import ProfilingInfo, SyncInferRequest
from hetero.reference import evaluate

if TYPE_CHECKING:
    from hetero_template.compiled_model import Step, TemplateCompiledModel


class TemplateInferRequest(SyncInferRequest):
    compiled_model: TemplateCompiledModel

    def __init__(self, compiled_model: TemplateCompiledModel) -> None:
        super().__init__(compiled_model)
        self._profile: list[ProfilingInfo] = []

    def infer(self) -> None:
        self.check_inputs()
        model = self.compiled_model
        values: list[np.ndarray | None] = [None] * model.slot_count
        for slot, array in model.constants.items():
            values[slot] = array
        for slot, tensor in zip(model.input_slots, self.input_tensors()):
            values[slot] = tensor.data
        given = {id(array) for array in values if array is not None}
        self._profile = []
        profiled = model.properties.get(props.enable_profiling)
        for step in model.steps:
            started = time.perf_counter() if profiled else 0.0
            _run(step, values)
            if profiled:
                took = time.perf_counter() - started
                self._profile.append(ProfilingInfo(step.node.friendly_name, step.node.type_info.name, "numpy", took))
        self._hand_out(values, given)

    def get_profiling_info(self) -> list[ProfilingInfo]:
        return self._profile

    def _hand_out(self, values: list[np.ndarray | None], given: set[int]) -> None:
        for slot, tensor in zip(self.compiled_model.output_slots, self.output_tensors()):
            array = values[slot]
            # An input, a constant or a view of one is not the tensor's to hold: the user may write to it.
            fresh = array.flags.owndata and id(array) not in given
            tensor.take(array if fresh else array.copy())
            given.add(id(array))


def _run(step: Step, values: list[np.ndarray | None]) -> None:
    try:
        outputs = evaluate(step.node, [values[slot] for slot in step.reads])
    except (ValueError, IndexError, TypeError, ZeroDivisionError) as error:
        # What shape inference could not see before the shapes were known.
        name, kind = step.node.friendly_name, step.node.type_info.name
        raise DeviceError(f"{kind} '{name}' cannot run on these inputs: {error}") from error
    for slot, array in zip(step.writes, outputs):
        values[slot] = array
    for slot in step.frees:
        values[slot] = None
