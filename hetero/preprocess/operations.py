"""The operations that steps of preprocessing and postprocessing consist of.

Each function takes the planes of an image, or one tensor, and the context, and returns the new values.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Concatenate, ParamSpec

import numpy as np

from hetero import ops
from hetero.core.containers import ElementType
from hetero.core.layout import Layout
from hetero.graph import Constant, Node, Output, as_output
from hetero.preprocess.conversion import added_dimensions, index_of, permuted, transposition
from hetero.preprocess.formats import PaddingMode, ResizeAlgorithm
from hetero.preprocess.step import Context
from hetero.system.errors import ArgumentTypeError, GraphError

Arguments = ParamSpec("Arguments")
_OnePlane = Callable[Concatenate[Output, Context, Arguments], Output | Node]
_Planes = Callable[Concatenate[list[Output], Context, Arguments], list[Output]]


def on_one_plane(function: _OnePlane[Arguments]) -> _Planes[Arguments]:
    """Return the function for a list of one tensor. It raises GraphError for an image in several planes."""

    @functools.wraps(function)
    def on_planes(
        values: list[Output], context: Context, /, *arguments: Arguments.args, **keywords: Arguments.kwargs
    ) -> list[Output]:
        if len(values) != 1:
            raise GraphError(
                f"{function.__name__} cannot be applied to the {len(values)} planes of "
                f"{context.color_format.description}; call convert_color first"
            )
        return [as_output(function(values[0], context, *arguments, **keywords))]

    return on_planes


def indices(values: Sequence[int] | int) -> Constant:
    return Constant(np.array(values, np.int64))


def convert_element_type(values: list[Output], context: Context, element_type: ElementType) -> list[Output]:
    """Convert to a type, or to that of the tensor that all steps lead to if it is dynamic."""
    target = context.target_type if element_type.is_dynamic() else element_type
    return [_converted(value, target) for value in values]


def _converted(value: Output, target: ElementType) -> Output:
    if value.element_type == target:
        return value
    if value.element_type.is_dynamic() or target.is_dynamic():
        raise GraphError(f"{value.element_type} cannot be converted to {target}; set the element type of the tensor")
    return ops.Convert(value, target).output(0)


@on_one_plane
def mean(value: Output, context: Context, numbers: list[float]) -> Node:
    return ops.Subtract(value, _per_channel(value, context, numbers, "mean"))


@on_one_plane
def scale(value: Output, context: Context, numbers: list[float]) -> Node:
    return ops.Divide(value, _per_channel(value, context, numbers, "scale"))


def _per_channel(value: Output, context: Context, numbers: list[float], step: str) -> Constant:
    """Return the numbers as a tensor that broadcasts along the channels, or a single one along all dimensions."""
    if not value.element_type.is_real():
        raise GraphError(
            f"{step} needs floating-point numbers, not {value.element_type}; call convert_element_type first"
        )
    shape = [1]
    if len(numbers) != 1:
        channels = index_of("C", context.layout, value.partial_shape)
        if not value.partial_shape[channels].compatible(len(numbers)):
            raise GraphError(
                f"{step} has {len(numbers)} values, but the input has {value.partial_shape[channels]} channels"
            )
        shape = [1] * len(value.partial_shape)
        shape[channels] = len(numbers)
    return Constant(np.array(numbers, np.float32).reshape(shape).astype(value.element_type.to_dtype()))


@on_one_plane
def clamp(value: Output, context: Context, minimum: float, maximum: float) -> Node:
    return ops.Clamp(value, minimum, maximum)


@on_one_plane
def custom(value: Output, context: Context, operation: Callable[[Output], Output]) -> Output:
    result = operation(value)
    if not isinstance(result, (Output, Node)):
        raise ArgumentTypeError(f"the function of a custom step must return an output of a node, not {result!r}")
    return as_output(result)


@on_one_plane
def resize(value: Output, context: Context, algorithm: ResizeAlgorithm, size: tuple[int, int] | None) -> Node:
    """Resize to height and width, or to those of the tensor that all steps lead to."""
    axes = [index_of(name, context.layout, value.partial_shape) for name in "HW"]
    if size is None:
        lengths = [context.target_shape[index_of(name, context.target_layout, context.target_shape)] for name in "HW"]
        if any(length.is_dynamic for length in lengths):
            raise GraphError(
                f"resize needs a height and a width, as those of the model's input are {context.target_shape}"
            )
        height, width = (length.get_length() for length in lengths)
    else:
        height, width = size
    return ops.Interpolate(
        value, indices([height, width]), algorithm.mode, "sizes", [0, 0], [0, 0],
        cube_coeff=algorithm.cube_coeff, axes=indices(axes),
    )  # fmt: skip


@on_one_plane
def crop(value: Output, context: Context, begin: list[int], end: list[int]) -> Node:
    count = len(begin)
    return ops.Slice(value, indices(begin), indices(end), indices([1] * count), indices(range(count)))


@on_one_plane
def pad(
    value: Output, context: Context, begin: list[int], end: list[int], numbers: list[float], mode: PaddingMode
) -> Node:
    if len(numbers) != 1:
        raise GraphError(f"pad takes one value, not {len(numbers)}")
    filling = Constant(np.array(numbers[0], np.float32).astype(value.element_type.to_dtype()))
    return ops.Pad(value, indices(begin), indices(end), mode.name.lower(), filling)


@on_one_plane
def reverse_channels(value: Output, context: Context) -> Node:
    shape = value.partial_shape
    if shape.has_rank:
        channels = index_of("C", context.layout, shape)
        if shape[channels].is_static:
            order = indices(range(shape[channels].get_length())[::-1])
            return ops.Gather(value, order, indices([channels]))
    else:
        channels = context.layout.get_index_by_name("C")
    return ops.Slice(value, indices([-1]), indices([np.iinfo(np.int64).min]), indices([-1]), indices([channels]))


@on_one_plane
def cut_last_channel(value: Output, context: Context) -> Node:
    channels = index_of("C", context.layout, value.partial_shape)
    return ops.Slice(value, indices([0]), indices([-1]), indices([1]), indices([channels]))


@on_one_plane
def cut_chrominance(value: Output, context: Context) -> Node:
    """Take the luminance of an image in one plane, the first two thirds of its rows."""
    height = indices([index_of("H", context.layout, value.partial_shape)])
    rows = ops.Gather(ops.ShapeOf(value), height, indices(0))
    end = ops.Divide(ops.Multiply(rows, indices(2)), indices(3))
    return ops.Slice(value, indices([0]), end, indices([1]), height)


@on_one_plane
def convert_layout(value: Output, context: Context, layout: Layout) -> Output:
    """Transpose to a layout, or to that of the tensor that all steps lead to if it is empty."""
    target = context.target_layout if layout.empty else layout
    order = transposition(context.layout, value.partial_shape, target)
    if order or not layout.empty:
        context.layout = target
    return ops.Transpose(value, indices(order)).output(0) if order else value


@on_one_plane
def convert_layout_of_image(value: Output, context: Context, layout: Layout) -> Output:
    """Transpose to a layout, and add dimensions of length 1 that the value lacks."""
    target = context.target_layout if layout.empty else layout
    added = added_dimensions(context.layout, target)
    if added:
        value = ops.Unsqueeze(value, indices(range(len(added)))).output(0)
        context.layout = Layout.of_names([*added, *context.layout.names()])
    return convert_layout([value], context, layout)[0]


@on_one_plane
def transpose(value: Output, context: Context, order: list[int]) -> Node:
    context.layout = permuted(context.layout, order)
    return ops.Transpose(value, indices(order))
