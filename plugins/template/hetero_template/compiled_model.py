"""The compiled model: the reference's Program of the model."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from hetero import properties as props
from hetero.graph import Model
from hetero.plugin import CompiledModel, ExecutedStep, PreparedModel, Section, make_runtime_model, model_sections
from hetero.reference import Program
from hetero_template.infer_request import TemplateInferRequest


class TemplateCompiledModel(CompiledModel):
    mutable_properties = (*CompiledModel.mutable_properties, props.inference_num_threads)

    def __init__(self, prepared: PreparedModel) -> None:
        super().__init__(prepared)
        self.transformed = prepared.model
        self.program = Program(prepared.model)
        self.variables = [variable.info for variable in prepared.model.variables]
        self._limit_threads()

    def set_property(self, values: Mapping[str, Any]) -> None:
        super().set_property(values)
        self._limit_threads()

    def _limit_threads(self) -> None:
        threads, streams = self.properties.get(props.inference_num_threads), self.properties.get(props.num_streams)
        if not threads and streams > 1:
            # With more threads than cores, the library's threads spend more time waiting for each other than computing.
            threads = max(1, (os.cpu_count() or 1) // streams)
        #: Runs the program, with at most INFERENCE_NUM_THREADS threads. By default one stream leaves the number to
        #: numpy, and several streams share the cores.
        self.run = partial(_run_on_threads, threads, self.program) if threads else self.program.run

    def create_sync_infer_request(self) -> TemplateInferRequest:
        return TemplateInferRequest(self)

    def export_sections(self) -> dict[str, Section]:
        return model_sections(self, self.transformed)

    def get_runtime_model(self) -> Model:
        steps = [ExecutedStep(step.node, "numpy") for step in self.program.steps]
        return make_runtime_model(self.transformed, steps, self.execution_times)


def _run_on_threads(threads: int, program: Program, *arguments: Any) -> Sequence[np.ndarray]:
    from hetero_template.threads import at_most  # imported only if needed

    with at_most(threads):
        return program.run(*arguments)
