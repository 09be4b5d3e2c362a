"""InputInfo: what the user passes for one input of the model, and how it becomes what the model reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from hetero.core.containers import ElementType
from hetero.core.layout import Layout
from hetero.core.shape import Dimension, PartialShape
from hetero.core.tensor import Tensor
from hetero.core.types import Type
from hetero.graph import Model, Output, Parameter
from hetero.graph.rt_info import RuntimeAttribute
from hetero.preprocess.arguments import as_integers, as_length, expect
from hetero.preprocess.conversion import index_of, squeezed, transposition
from hetero.preprocess.formats import ColorFormat
from hetero.preprocess.operations import convert_layout_of_image
from hetero.preprocess.step import Context, PreprocessStep, describe, run
from hetero.preprocess.steps import PreProcessSteps, conversion_of_layout, conversion_of_type
from hetero.preprocess.tensor_info import ModelInfo, TensorInfo
from hetero.system.errors import ArgumentTypeError, GraphError

# OpenVINO's key in the rt_info of an input.
_MEMORY_TYPE = "memory_type_0"
_MODEL_FORMATS = (ColorFormat.RGB, ColorFormat.BGR, ColorFormat.GRAY, ColorFormat.UNDEFINED)


class InputTensorInfo(TensorInfo):
    """The tensor that the user passes. What is not set is as the model's input."""

    def __init__(self) -> None:
        super().__init__()
        self.shape: PartialShape | None = None
        self.spatial_shape: tuple[Dimension, Dimension] | None = None
        self.color_format = ColorFormat.UNDEFINED
        self.sub_names: list[str] = []
        self.memory_type: str | None = None

    def set_color_format(self, format: ColorFormat, sub_names: Sequence[str] = ()) -> InputTensorInfo:
        """Set the format of an image. One in several planes is several inputs, named ``input name/sub name``."""
        self.color_format = expect(format, ColorFormat, "the color format")
        if isinstance(sub_names, str) or not all(isinstance(name, str) for name in sub_names):
            raise ArgumentTypeError(f"sub_names is a list of strings, not {sub_names!r}")
        if sub_names and len(sub_names) != (format.planes if format.planes > 1 else 0):
            raise GraphError(
                f"{format.description} has {format.planes} planes, but there are {len(sub_names)} sub-names"
            )
        self.sub_names = list(sub_names)
        return self

    def set_shape(self, shape: PartialShape | Sequence[int]) -> InputTensorInfo:
        if not isinstance(shape, PartialShape):
            shape = PartialShape(as_integers(shape, "set_shape"))
        if self.spatial_shape is not None:
            raise GraphError("set_shape and set_from cannot be called after a spatial shape was set")
        self.shape = shape
        return self

    def set_spatial_static_shape(self, height: int, width: int) -> InputTensorInfo:
        """Set height and width, which the layout names H and W."""
        sizes = as_length(height, "set_spatial_static_shape"), as_length(width, "set_spatial_static_shape")
        return self._set_spatial_shape(Dimension(sizes[0]), Dimension(sizes[1]))

    def set_spatial_dynamic_shape(self) -> InputTensorInfo:
        """Leave height and width, which the layout names H and W, open."""
        return self._set_spatial_shape(Dimension(), Dimension())

    def _set_spatial_shape(self, height: Dimension, width: Dimension) -> InputTensorInfo:
        if self.shape is not None:
            raise GraphError("a spatial shape cannot be set after set_shape or set_from")
        self.spatial_shape = height, width
        return self

    def set_from(self, tensor: Tensor | np.ndarray) -> InputTensorInfo:
        """Set shape and element type to those of a tensor or an array."""
        if not isinstance(tensor, (Tensor, np.ndarray)):
            raise ArgumentTypeError(f"set_from takes a Tensor or an array, not {tensor!r}")
        element_type = tensor.element_type if isinstance(tensor, Tensor) else Type(tensor.dtype)
        return self.set_shape(PartialShape(tuple(tensor.shape))).set_element_type(
            expect(element_type, Type, "a tensor")
        )

    def set_memory_type(self, memory_type: str) -> InputTensorInfo:
        """Set the kind of memory, a note for the device in the rt_info of the input; an empty string removes it."""
        self.memory_type = expect(memory_type, str, "the memory type")
        return self


class InputModelInfo(ModelInfo):
    """The input of the model."""


class Preprocessing(NamedTuple):
    """New Parameters in place of one of the model, and the context of the steps from them to the model."""

    parameters: list[Parameter]
    context: Context

    @property
    def values(self) -> list[Output]:
        return [parameter.output(0) for parameter in self.parameters]


class InputInfo:
    """One input of the model: the user's tensor, the steps from it to the model, and the model's input."""

    def __init__(self, model: Model, index: int) -> None:
        self._graph, self._parameter = model, model.parameters[index]
        self._tensor, self._steps, self._model = InputTensorInfo(), PreProcessSteps(), InputModelInfo()

    def tensor(self) -> InputTensorInfo:
        return self._tensor

    def preprocess(self) -> PreProcessSteps:
        return self._steps

    def model(self) -> InputModelInfo:
        return self._model

    def build(self) -> None:
        """Replace the model's Parameter. Raises GraphError if the steps do not lead to its type and shape."""
        if self._parameter not in self._graph.parameters:
            raise GraphError(f"the input '{self._parameter.friendly_name}' was replaced by a build before")
        parameters, context = start = self._start()
        values = run(self._steps.steps, start.values, context, [])
        if len(values) != 1 or context.color_format not in _MODEL_FORMATS:
            raise GraphError(
                f"the model's input '{self._parameter.friendly_name}' cannot be an image in "
                f"{context.color_format.description}; call convert_color"
            )
        [value] = run(self._implicit_steps(values, context), values, context, [])
        if not value.partial_shape.compatible(context.target_shape):
            raise GraphError(
                f"preprocessing leads to the shape {value.partial_shape}, but the model's input "
                f"'{self._parameter.friendly_name}' is {context.target_shape}"
            )
        position = self._graph.get_parameter_index(self._parameter)
        for reader in self._parameter.output(0).get_target_inputs():
            reader.replace_source_output(value)
        behind = self._graph.parameters[position + 1 :]
        for parameter in (self._parameter, *behind):
            self._graph.remove_parameter(parameter)
        self._graph.add_parameters([*parameters, *behind])

    def describe(self, text: list[str]) -> None:
        """Add a description of tensor, model and steps to the text, piece by piece; nothing if nothing is set."""
        start = self._start()
        context, values = start.context, start.values
        if not (
            len(values) > 1
            or values[0].partial_shape != context.target_shape
            or self._parameter.layout != context.target_layout
            or values[0].element_type != context.target_type
            or self._tensor.memory_type is not None
            or self._steps.steps
        ):
            return
        names = self._parameter.output(0).names
        text.append(f'Input "{min(names)}"' if names else "Input ")
        if context.color_format is not ColorFormat.UNDEFINED:
            text.append(f" (color {context.color_format.description})")
        if self._tensor.memory_type is not None:
            text.append(f" memory type={self._tensor.memory_type}")
        planes = [describe(v.partial_shape, context.layout, v.element_type) for v in values]
        if len(values) == 1:
            text.append(f":\n    User's input tensor: {planes[0]}\n")
        else:
            text.append(f":\n    {len(values)} user's tensors expected for each plane:\n")
            for number, (value, plane) in enumerate(zip(values, planes)):
                name = f"{min(value.own_names)} " if value.own_names else ""
                text.append(f"       {number}: {name}{plane}\n")
        target = describe(context.target_shape, context.target_layout, context.target_type)
        text.append(f"    Model's expected tensor: {target}\n")
        if self._steps.steps:
            text.append(f"    Pre-processing steps ({len(self._steps.steps)}):\n")
        values = run(self._steps.steps, values, context, text)
        implicit = self._implicit_steps(values, context)
        if implicit:
            text.append(f"    Implicit pre-processing steps ({len(implicit)}):\n")
        run(implicit, values, context, text)

    def _start(self) -> Preprocessing:
        """Create the Parameters of the user's tensor. Raises GraphError if layouts and shapes contradict each other."""
        tensor, target = self._tensor, self._parameter.output(0)
        layout = tensor.color_format.default_layout if tensor.layout is None else tensor.layout
        model_layout = self._parameter.layout if self._model.layout is None else self._model.layout
        if model_layout.empty and tensor.layout is not None:
            model_layout = self._steps.layout_after(layout)
        layout, shape = self._tensor_layout_and_shape(layout, model_layout, target.partial_shape)
        color = tensor.color_format
        parameters = []
        for plane in range(color.planes):
            plane_shape = color.plane_shape(plane, shape, layout)
            parameters.append(
                self._make_parameter(plane, tensor.element_type or target.element_type, plane_shape, layout)
            )
        return Preprocessing(
            parameters, Context(layout, model_layout, target.element_type, target.partial_shape, color)
        )

    def _tensor_layout_and_shape(
        self, layout: Layout, model_layout: Layout, model_shape: PartialShape
    ) -> tuple[Layout, PartialShape]:
        """Return layout and shape of the user's tensor, which follow from the model's if they are not set."""
        tensor = self._tensor
        if layout.empty or model_layout.empty or layout == model_layout:
            shape, own_layout = self._steps.before_transpositions(tensor.shape or model_shape, model_layout)
            layout = own_layout if layout.empty else layout
        else:
            kept_layout, shape = squeezed(model_layout, model_shape, layout)
            order = transposition(kept_layout, shape, layout)
            if order and shape.has_rank:
                shape = PartialShape([shape[index] for index in order])
        if tensor.shape is not None:
            return layout, tensor.shape
        if tensor.spatial_shape is not None:
            height, width = index_of("H", layout, shape), index_of("W", layout, shape)
            dimensions = list(shape)
            dimensions[height], dimensions[width] = tensor.spatial_shape
            shape = PartialShape(dimensions)
        return layout, shape

    def _make_parameter(self, plane: int, element_type: ElementType, shape: PartialShape, layout: Layout) -> Parameter:
        tensor, old = self._tensor, self._parameter
        parameter = Parameter(element_type, shape)
        if plane < len(tensor.sub_names):
            suffix = f"/{tensor.sub_names[plane]}"
            names = {f"{name}{suffix}" for name in old.output(0).names}
            for name in names & _tensor_names(self._graph):
                raise GraphError(f"the model already has a tensor {name}; choose another sub-name in set_color_format")
            parameter.output(0).own_names = names
            parameter.friendly_name = f"{old.friendly_name}{suffix}"
        elif tensor.color_format.planes == 1:
            parameter.output(0).own_names = set(old.output(0).own_names)
            parameter.friendly_name = old.friendly_name
        parameter.rt_info.update(old.rt_info)
        parameter.output(0).rt_info.update(old.output(0).rt_info)
        if not layout.empty:
            parameter.layout = layout
        if tensor.memory_type is not None:
            parameter.output(0).rt_info.pop(_MEMORY_TYPE, None)
            if tensor.memory_type:
                parameter.output(0).rt_info[_MEMORY_TYPE] = RuntimeAttribute(value=tensor.memory_type)
        return parameter

    def _implicit_steps(self, values: list[Output], context: Context) -> list[PreprocessStep]:
        """Return the conversions of type and layout that are left after the explicit steps."""
        steps = []
        if values[0].element_type != context.target_type:
            steps.append(conversion_of_type(context.target_type))
        if not context.target_layout.empty and context.target_layout != context.layout:
            steps.append(conversion_of_layout(context.target_layout, convert_layout_of_image))
        return steps


def _tensor_names(model: Model) -> set[str]:
    return {name for node in model.get_ordered_ops() for output in node.outputs() for name in output.own_names}
