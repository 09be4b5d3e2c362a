"""Values of a TensorFlow graph that are not tensors: resources, which operators pass on and use by reference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

from hetero.frontend.translation.subgraph import ModelScope
from hetero.graph import Output


class Handle:
    """A resource. Two handles are equal if they stand for the same resource."""

    def captured(self, scope: ModelScope) -> Self:
        """Return the handle as a body sees it."""
        return self


@dataclass(frozen=True)
class VariableHandle(Handle):
    """A variable, by its name. ``is_reference``: in TensorFlow 1, operators read it as if it were its contents."""

    name: str
    is_reference: bool = False


Value = Output | Handle
# The result of a translator that may return Handles: a Translation, a Handle or a list of values.
Values = Any
