"""Element type and layout of tensors, for inputs and outputs alike."""

from __future__ import annotations

from typing import Self

from hetero.core.layout import Layout
from hetero.core.types import Type
from hetero.preprocess.arguments import as_layout, expect


class ModelInfo:
    """An input or output of the model. Methods return self for chaining."""

    def __init__(self) -> None:
        self.layout: Layout | None = None

    def set_layout(self, layout: Layout | str) -> Self:
        self.layout = as_layout(layout, "the layout")
        return self


class TensorInfo(ModelInfo):
    """The user's tensor for an input or output. What is not set follows from the model and the steps."""

    def __init__(self) -> None:
        super().__init__()
        self.element_type: Type | None = None

    def set_element_type(self, type: Type) -> Self:
        self.element_type = expect(type, Type, "the element type")
        return self
