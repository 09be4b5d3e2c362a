"""PreProcessSteps and PostProcessSteps: lists of steps, which methods append to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Self

from hetero.core.containers import ElementType
from hetero.core.layout import Layout
from hetero.core.shape import PartialShape
from hetero.core.types import Type
from hetero.graph import Output
from hetero.preprocess import operations
from hetero.preprocess.arguments import as_floats, as_integers, as_layout, as_length, expect
from hetero.preprocess.color_conversion import convert_color
from hetero.preprocess.conversion import check_order, permuted
from hetero.preprocess.formats import ColorFormat, PaddingMode, ResizeAlgorithm
from hetero.preprocess.step import PreprocessStep
from hetero.system.errors import ArgumentTypeError, GraphError


def conversion_of_type(element_type: ElementType) -> PreprocessStep:
    return PreprocessStep(
        f"convert type ({element_type})", partial(operations.convert_element_type, element_type=element_type)
    )


def conversion_of_layout(layout: Layout, convert: Callable[..., list[Output]]) -> PreprocessStep:
    return PreprocessStep(f"convert layout {layout}", partial(convert, layout=layout), layout=layout)


class _Steps:
    """Steps that change a tensor one after the other. Each method appends one, and returns the steps for chaining."""

    _convert_layout = staticmethod(operations.convert_layout)

    def __init__(self) -> None:
        self.steps: list[PreprocessStep] = []

    def _add(self, step: PreprocessStep) -> Self:
        self.steps.append(step)
        return self

    def convert_element_type(self, type: Type = Type.dynamic) -> Self:
        """Convert to an element type; by default that of the model's input, or of the output tensor."""
        return self._add(conversion_of_type(expect(type, Type, "the element type")))

    def convert_layout(
        self, dst_layout: Layout | str | Sequence[int] | None = None, *, dims: Sequence[int] | None = None
    ) -> Self:
        """Transpose to a layout, or to an order of dimensions: ``[0, 3, 1, 2]`` converts NHWC to NCHW."""
        if isinstance(dst_layout, (Layout, str)):
            layout = as_layout(dst_layout, "the layout")
            return self._add(conversion_of_layout(layout, self._convert_layout))
        given = dims if dst_layout is None else dst_layout
        order = [as_length(index, "convert_layout") for index in as_integers(given, "convert_layout")]
        if not order:
            return self
        name = f"convert layout ({_listed(order)})"
        return self._add(PreprocessStep(name, partial(operations.transpose, order=order), order=order))

    def clamp(self, min_value: float, max_value: float) -> Self:
        """Limit all elements to a range."""
        (low,), (high,) = as_floats(min_value, "clamp"), as_floats(max_value, "clamp")
        return self._add(
            PreprocessStep(f"clamp ({low:g},{high:g})", partial(operations.clamp, minimum=low, maximum=high))
        )

    def custom(self, operation: Callable[[Output], Output]) -> Self:
        """Apply a function that takes an output of a node and returns another."""
        if not callable(operation):
            raise ArgumentTypeError(f"custom takes a function, not {operation!r}")
        return self._add(PreprocessStep("custom", partial(operations.custom, operation=operation)))


class PostProcessSteps(_Steps):
    """What happens to an output of the model before the user gets it."""


class PreProcessSteps(_Steps):
    """What happens to a tensor of the user before the model reads it."""

    _convert_layout = staticmethod(operations.convert_layout_of_image)

    def mean(self, value: float | Sequence[float] | None = None, *, values: Sequence[float] | None = None) -> Self:
        """Subtract a number, or one for each channel."""
        return self._add(_of_numbers("mean", as_floats(values if value is None else value, "mean")))

    def scale(self, value: float | Sequence[float] | None = None, *, values: Sequence[float] | None = None) -> Self:
        """Divide by a number, or by one for each channel."""
        return self._add(_of_numbers("scale", as_floats(values if value is None else value, "scale")))

    def convert_color(self, dst_format: ColorFormat) -> Self:
        """Convert from the color format of the user's tensor."""
        target = expect(dst_format, ColorFormat, "the color format")
        return self._add(PreprocessStep(f"convert color ({target.description})", partial(convert_color, target=target)))

    def resize(self, alg: ResizeAlgorithm, dst_height: int | None = None, dst_width: int | None = None) -> Self:
        """Resize to a height and a width; by default to those of the model's input."""
        algorithm = expect(alg, ResizeAlgorithm, "the algorithm of resize")
        size = None
        if dst_height is not None or dst_width is not None:
            if dst_height is None or dst_width is None:
                raise ArgumentTypeError("resize takes both a height and a width, or none of them")
            size = as_length(dst_height, "resize"), as_length(dst_width, "resize")
        name = f"resize to {size}" if size else "resize to model width/height"
        return self._add(PreprocessStep(name, partial(operations.resize, algorithm=algorithm, size=size)))

    def crop(self, begin: Sequence[int], end: Sequence[int]) -> Self:
        """Take the part from ``begin`` to ``end``, which is not part of it; negative numbers count from the end."""
        begin, end = as_integers(begin, "crop"), as_integers(end, "crop")
        if len(begin) != len(end):
            raise GraphError(f"crop begins at {begin}, but ends at {end}, which has another number of dimensions")
        name = f"Crop ([ {', '.join(map(str, begin))} ],[ {', '.join(map(str, end))} ])"
        return self._add(PreprocessStep(name, partial(operations.crop, begin=begin, end=end)))

    def pad(
        self, pads_begin: Sequence[int], pads_end: Sequence[int], value: float | Sequence[float], mode: PaddingMode
    ) -> Self:
        """Add padding before and after each dimension, of ``value`` if the mode is CONSTANT."""
        begin, end = as_integers(pads_begin, "pad"), as_integers(pads_end, "pad")
        numbers, mode = as_floats(value, "pad"), expect(mode, PaddingMode, "the mode of pad")
        filling = {
            PaddingMode.CONSTANT: f"with ({_listed(numbers)})",
            PaddingMode.REFLECT: "reflected from tensor",
            PaddingMode.SYMMETRIC: "symmetrically added from tensor",
        }[mode]
        name = f"pad(begin ({_listed(begin)}), end ({_listed(end)}), {filling})"
        return self._add(
            PreprocessStep(name, partial(operations.pad, begin=begin, end=end, numbers=numbers, mode=mode))
        )

    def reverse_channels(self) -> Self:
        """Reverse the order of the channels, such as from RGB to BGR."""
        return self._add(PreprocessStep("reverse channels", operations.reverse_channels))

    def layout_after(self, layout: Layout) -> Layout:
        """Return the layout to which the steps convert a tensor of a layout."""
        for step in self.steps:
            if step.layout is not None:
                layout = step.layout
            elif step.order is not None:
                layout = permuted(layout, step.order)
        return layout

    def before_transpositions(self, shape: PartialShape, layout: Layout) -> tuple[PartialShape, Layout]:
        """Return the shape and layout from which conversions by an order of dimensions lead to the given ones."""
        for order in [step.order for step in reversed(self.steps) if step.order is not None]:
            if shape.has_rank:
                check_order(order)
                if len(order) != len(shape):
                    raise GraphError(
                        f"convert_layout by {order} needs {len(order)} dimensions, but the input is {shape}"
                    )
                inverse = sorted(range(len(order)), key=order.__getitem__)
                layout = permuted(layout, inverse)
                shape = PartialShape([shape[index] for index in inverse])
        return shape, layout


def _of_numbers(kind: str, numbers: list[float]) -> PreprocessStep:
    name = f"{kind} ({_listed(numbers)})" if numbers else f"{kind} "
    return PreprocessStep(name, partial(getattr(operations, kind), numbers=numbers))


def _listed(numbers: Sequence[Any]) -> str:
    return ",".join(f"{number:g}" if isinstance(number, float) else str(number) for number in numbers)
