"""The compiled model: programs for each combination of input shapes, and requests that run them."""

from __future__ import annotations

from functools import partial

from hetero import properties as props
from hetero.compiler import ProgramCache
from hetero.core.types import Type
from hetero.graph import Constant, Model, is_terminal
from hetero.passes import fold_weights
from hetero.plugin import CompiledModel, ExecutedStep, PreparedModel, Section, make_runtime_model, model_sections
from hetero_onednn.infer_request import OneDnnInferRequest
from hetero_onednn.library.api import DataType, computes_in_bf16
from hetero_onednn.lower_model import lower_model
from hetero_onednn.program import Constants
from hetero_onednn.shape_arithmetic import shape_parameters

# Programs of other shapes may want the weights in other layouts. The constants of all programs together take at most
# this multiple of the size of the model's, or this number of bytes if that is more; else programs are dropped.
LAYOUTS, MIN_BYTES = 3, 1 << 26


class OneDnnCompiledModel(CompiledModel):
    """A model lowered at once if all shapes are static, else at the first inference of each input shape."""

    def __init__(self, prepared: PreparedModel) -> None:
        super().__init__(prepared)
        self._model = prepared.model
        # Only the copy gets decompressed weights, so the exported model stays small.
        decompressed = prepared.model.clone()
        fold_weights(decompressed)
        # A processor without bf16 computes in f32, as the property is a hint.
        is_bf16 = self.properties.get(props.hint.inference_precision) is Type.bf16 and computes_in_bf16()
        precision = DataType.bf16 if is_bf16 else DataType.f32
        constants = Constants()
        lower = partial(lower_model, constants=constants, precision=precision)
        most = max(MIN_BYTES, LAYOUTS * _constant_bytes(decompressed))
        self.programs = ProgramCache(
            decompressed, lower, shape_parameters(decompressed), lambda: constants.byte_size > most
        )
        self.programs.make_if_static()

    def create_sync_infer_request(self) -> OneDnnInferRequest:
        return OneDnnInferRequest(self)

    def export_sections(self) -> dict[str, Section]:
        return model_sections(self, self._model)

    def get_runtime_model(self) -> Model:
        """Return the model that runs, with the implementations of the program used last."""
        program = self.programs.last_used
        if program is None:
            order = self._model.get_ordered_ops()
            steps = [ExecutedStep(node) for node in order if not is_terminal(node)]
            return make_runtime_model(self._model, steps, self.execution_times)
        implementations = {step.node: step.primitive.implementation for step in program.steps if not step.role}
        steps = [
            ExecutedStep(node, implementations.get(node, "view"))
            for node in program.model.get_ordered_ops()
            if not is_terminal(node)
        ]
        return make_runtime_model(program.model, steps, self.execution_times)


def _constant_bytes(model: Model) -> int:
    return sum(node.data.nbytes for node in model.get_ordered_ops() if isinstance(node, Constant))
