"""OutputInfo: how one output of the model becomes what the user gets."""

from __future__ import annotations

from hetero.core.layout import Layout
from hetero.core.types import Type
from hetero.graph import Output, Parameter, Result
from hetero.preprocess.operations import convert_layout
from hetero.preprocess.step import Context, PreprocessStep, describe, run
from hetero.preprocess.steps import PostProcessSteps, conversion_of_layout, conversion_of_type
from hetero.preprocess.tensor_info import ModelInfo, TensorInfo


class OutputTensorInfo(TensorInfo):
    """The tensor that the user gets. What is not set is as the steps leave it."""


class OutputModelInfo(ModelInfo):
    """The output of the model."""


class OutputInfo:
    """One output of the model: the model's output, the steps behind it, and the user's tensor."""

    def __init__(self, result: Result) -> None:
        self._result = result
        self._tensor, self._steps, self._model = OutputTensorInfo(), PostProcessSteps(), OutputModelInfo()

    def tensor(self) -> OutputTensorInfo:
        return self._tensor

    def postprocess(self) -> PostProcessSteps:
        return self._steps

    def model(self) -> OutputModelInfo:
        return self._model

    def build(self) -> None:
        """Insert the steps before the Result, which keeps its names."""
        result, source = self._result, self._result.input_value(0)
        if self._model.layout is not None:
            result.layout = self._model.layout
        context = self._context()
        values = run(self._steps.steps, [source], context, [])
        [value] = run(self._implicit_steps(values, context), values, context, [])
        if value is not source:
            value.node.friendly_name = f"{source.node.friendly_name}.{source.index}"
            names = source.own_names & result.output(0).own_names
            source.own_names = source.own_names - names
            value.own_names = value.own_names | names
            result.input(0).replace_source_output(value)
            result.infer()
        if not context.layout.empty:
            result.layout = context.layout

    def describe(self, text: list[str]) -> None:
        """Add a description of model, steps and tensor to the text, piece by piece; nothing if nothing is set."""
        port, context, tensor = self._result.output(0), self._context(), self._tensor
        if not (
            (tensor.layout is not None and tensor.layout != context.layout)
            or (tensor.element_type is not None and tensor.element_type != port.element_type)
            or self._steps.steps
        ):
            return
        text.append(f'Output "{", ".join(sorted(port.names))}":\n')
        source = describe(port.partial_shape, context.layout, port.element_type)
        text.append(f"    Model's data tensor: {source}\n")
        if self._steps.steps:
            text.append(f"    Post-processing steps ({len(self._steps.steps)}):\n")
        # The steps are tried on a tensor of the same type and shape, so that the model does not change.
        values = run(self._steps.steps, [Parameter(port.element_type, port.partial_shape).output(0)], context, text)
        implicit = self._implicit_steps(values, context)
        if implicit:
            text.append(f"    Post-processing implicit steps ({len(implicit)}):\n")
        [value] = run(implicit, values, context, text)
        text.append(f"    User's output tensor: {context.describe(value)}\n")

    def _context(self) -> Context:
        port = self._result.output(0)
        layout = self._result.layout if self._model.layout is None else self._model.layout
        element_type = self._tensor.element_type or Type.dynamic
        return Context(layout, self._tensor.layout or Layout(), element_type, port.partial_shape)

    def _implicit_steps(self, values: list[Output], context: Context) -> list[PreprocessStep]:
        """Return the conversions of type and layout that are left after the explicit steps."""
        steps = []
        element_type = self._tensor.element_type
        if element_type not in (None, values[0].element_type) and values[0].element_type.is_static():
            steps.append(conversion_of_type(element_type))
        if not context.target_layout.empty and context.target_layout != context.layout:
            steps.append(conversion_of_layout(context.target_layout, convert_layout))
        return steps
