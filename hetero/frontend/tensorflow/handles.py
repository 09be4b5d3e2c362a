"""Values of a TensorFlow graph that are not tensors: resources, which operators pass on and use by reference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hetero.graph import Output
from hetero.types import Type


class Handle:
    """A resource. Two handles are equal if they stand for the same resource."""


@dataclass(frozen=True)
class VariableHandle(Handle):
    """A variable, by its name. ``element_type``: the type of its contents, dynamic if unknown."""

    name: str
    element_type: Type = Type.dynamic


Value = Output | Handle
# The result of a translator that may return Handles: a Translation, a Handle or a list of values.
Values = Any
