"""PreprocessStep, one operation of a preprocessing, and the state that steps pass on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from hetero.core.containers import ElementType
from hetero.core.layout import Layout
from hetero.core.shape import PartialShape
from hetero.graph import Output
from hetero.preprocess.formats import ColorFormat


@dataclass
class Context:
    """What steps know of the values that they change, and of the tensor that all steps lead to."""

    layout: Layout
    target_layout: Layout
    target_type: ElementType
    target_shape: PartialShape
    color_format: ColorFormat = ColorFormat.UNDEFINED

    def describe(self, value: Output) -> str:
        """Return shape, layout, type and color format of a value as text."""
        color = "" if self.color_format is ColorFormat.UNDEFINED else f", {self.color_format.description}"
        return describe(value.partial_shape, self.layout, value.element_type) + color


class PreprocessStep(NamedTuple):
    """A step: takes the planes of an image, or one tensor, and returns what it makes of them."""

    name: str
    apply: Callable[[list[Output], Context], list[Output]]
    #: The layout or the order of dimensions that a conversion has as its argument.
    layout: Layout | None = None
    order: Sequence[int] | None = None


def describe(shape: PartialShape, layout: Layout, element_type: ElementType) -> str:
    return f"{shape}, {'<no layout>' if layout.empty else layout}, {element_type}"


def run(steps: Iterable[PreprocessStep], values: list[Output], context: Context, text: list[str]) -> list[Output]:
    """Return the values after all steps. Pieces of text that describe the steps are added to ``text``."""
    for step in steps:
        text.append(f"      {step.name}: ({context.describe(values[0])}")
        values = step.apply(values, context)
        text.append(f") -> ({context.describe(values[0])})\n")
    return values
