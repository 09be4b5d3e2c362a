"""Variable: what a model remembers from one inference to the next, read and set by operations that name it."""

from __future__ import annotations

from dataclasses import dataclass, field

from hetero.shape import PartialShape
from hetero.types import Type


@dataclass
class VariableInfo:
    """The name of a variable, and the type and shape of all values that it may have."""

    variable_id: str = ""
    data_type: Type = Type.dynamic
    data_shape: PartialShape = field(default_factory=PartialShape.dynamic)

    def fits(self, other: VariableInfo) -> bool:
        """Whether a value may be of the types and shapes of both."""
        kinds = {self.data_type, other.data_type} - {Type.dynamic}
        return len(kinds) < 2 and self.data_shape.compatible(other.data_shape)


@dataclass
class Variable:
    """A variable of a model."""

    info: VariableInfo

    def get_info(self) -> VariableInfo:
        return self.info

    def update(self, info: VariableInfo) -> None:
        self.info = info
