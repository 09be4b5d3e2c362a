"""Variable: the state that a model keeps between inferences, read and set by operations that name it."""

from __future__ import annotations

from dataclasses import dataclass, field

from hetero.core.shape import PartialShape
from hetero.core.types import Type


@dataclass
class VariableInfo:
    """The name of a variable, and the element type and the shape of its values."""

    variable_id: str = ""
    data_type: Type = Type.dynamic
    data_shape: PartialShape = field(default_factory=PartialShape.dynamic)

    def fits(self, other: VariableInfo) -> bool:
        """Return whether a value can have the type and the shape of both."""
        types = {self.data_type, other.data_type} - {Type.dynamic}
        return len(types) < 2 and self.data_shape.compatible(other.data_shape)

    def merge(self, other: VariableInfo) -> VariableInfo:
        """Return the type and the shape of the values that have both; these if there is no such value."""
        if self is other or not self.fits(other):
            return self
        kind = other.data_type if self.data_type is Type.dynamic else self.data_type
        return VariableInfo(self.variable_id, kind, self.data_shape.merge(other.data_shape))


@dataclass
class Variable:
    """A variable of a model."""

    info: VariableInfo

    def get_info(self) -> VariableInfo:
        return self.info

    def update(self, variable_info: VariableInfo) -> None:
        self.info = variable_info
