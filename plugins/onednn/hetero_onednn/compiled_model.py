"""The compiled model: programs for classes of input shapes, and requests that run them.

Programs for ordinary inputs are faster than those that keep NaN, which are made when inputs need them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from hetero import properties as props
from hetero.compiler import ProgramCache, constants_budget
from hetero.core.types import Type
from hetero.graph import Constant, Model, is_terminal, port_name
from hetero.passes import with_folded_weights
from hetero.passes.bounds.value_bounds import is_ordinary
from hetero.plugin import (
    CompiledModel,
    ExecutedStep,
    PreparedModel,
    Section,
    make_runtime_model,
    model_programs,
    model_sections,
)
from hetero.system.errors import UnsupportedValueError
from hetero_onednn.infer_request import OneDnnInferRequest
from hetero_onednn.keep_nan import loses_nan
from hetero_onednn.library.api import DataType, computes_in_bf16
from hetero_onednn.lower_model import lower_model
from hetero_onednn.passes.fake_quantize import QUANTIZES
from hetero_onednn.program import Constants, PrimitiveProgram
from hetero_onednn.shape_arithmetic import shape_parameters
from hetero_onednn.shape_programs import ShapePrograms

#: The largest norm of inputs of programs that may lose NaN.
LARGEST_INPUT = 2.0**20


class OneDnnCompiledModel(CompiledModel):
    """A model lowered at once for its shapes, or for likely ones, and for other classes of shapes when they come."""

    def __init__(self, prepared: PreparedModel) -> None:
        super().__init__(prepared)
        self._model = prepared.model
        self._quantizes = prepared.model.has_rt_info(QUANTIZES)
        decompressed = with_folded_weights(prepared.model)
        # A processor without bf16 computes in f32, as the property is a hint.
        is_bf16 = self.properties.get(props.hint.inference_precision) is Type.bf16 and computes_in_bf16()
        precision = DataType.bf16 if is_bf16 else DataType.f32
        constants = Constants(constants_budget(_constant_bytes(decompressed)))
        lower = partial(lower_model, constants=constants, precision=precision)
        shapes = shape_parameters(decompressed)

        def cache(largest_input: float) -> ProgramCache[ShapePrograms]:
            make = partial(lower, largest_input=largest_input)
            return ProgramCache(decompressed, make, shapes, constants.is_full, takes_lengths=True)

        self.programs = cache(LARGEST_INPUT)
        self._keeping_programs = cache(math.inf) if loses_nan(decompressed) else self.programs
        self.programs.make_ahead()
        # Those of inputs of static shapes.
        self._shapes = [tuple(port.shape) for port in self.inputs if port.partial_shape.is_static]

    def program_for(self, inputs: Sequence[np.ndarray], keeps_nan: bool = False) -> PrimitiveProgram:
        """Return the program for these inputs, made on a cache miss; with ``keeps_nan`` the one that checks nothing.

        Raises UnsupportedValueError for NaN and infinities if the program computes FakeQuantize in integers.
        """
        if self._quantizes:
            self._refuse_nan(inputs)
        programs = self.programs
        if programs is not self._keeping_programs:
            for array in () if keeps_nan else inputs:
                if not is_ordinary(array, LARGEST_INPUT):
                    keeps_nan = True
                    break
            if keeps_nan:
                programs = self._keeping_programs
        if programs.only is not None and self._are_static(inputs):
            return programs.only.program_for(())
        contents = {index: inputs[index] for index in programs.deciding}
        shapes, lengths = programs.program_for_lengths([array.shape for array in inputs], contents)
        return shapes.program_for(lengths)

    def _are_static(self, inputs: Sequence[np.ndarray]) -> bool:
        """Return whether the inputs have the shapes of the model, as primitives read their memory unchecked."""
        for array, shape in zip(inputs, self._shapes):  # noqa: SIM110  # a generator is a call for each input
            if array.shape != shape:
                return False
        return True

    def _refuse_nan(self, inputs: Sequence[np.ndarray]) -> None:
        """Raise UnsupportedValueError for NaN and infinities, which may become NaN."""
        for port, array in zip(self.inputs, inputs):
            if not is_ordinary(array, LARGEST_INPUT) and not np.isfinite(array).all():
                raise UnsupportedValueError(
                    f"{self.device_name} computes FakeQuantize in integers, which have no NaN, but input "
                    f"'{port_name(port)}' has NaN or infinity"
                )

    def create_sync_infer_request(self) -> OneDnnInferRequest:
        return OneDnnInferRequest(self)

    def export_sections(self) -> dict[str, Section]:
        return model_sections(self, self._model)

    def get_property(self, key: str) -> Any:
        if key == model_programs:
            made = dict.fromkeys((self.programs, self._keeping_programs))  # often one cache
            return tuple(line for programs in made for line in programs.describe())
        return super().get_property(key)

    def get_runtime_model(self) -> Model:
        """Return the model that runs, with the implementations of the program used last."""
        programs = self.programs.last_used
        if programs is not None:
            return programs.runtime_model(self.execution_times)
        steps = [ExecutedStep(node) for node in self._model.get_ordered_ops() if not is_terminal(node)]
        return make_runtime_model(self._model, steps, self.execution_times)


def _constant_bytes(model: Model) -> int:
    return sum(node.decoded_bytes for node in model.get_ordered_ops() if isinstance(node, Constant))
