"""The contents of a model's variables during translation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set

import numpy as np

from hetero import ops
from hetero.frontend.translation.subgraph import ModelScope
from hetero.graph import Constant, Node, Output
from hetero.system.errors import FrontendError


class Variables:
    """The variables by name, each with its value after the operators translated so far.

    ``arrays``: their contents in the file. A variable that the model changes is a ReadValue at the beginning of an
    inference and an Assign at its end; others are constants. ``changed``: the names of the variables that it changes.
    """

    def __init__(self, arrays: Mapping[str, np.ndarray], changed: Set[str], scope: ModelScope) -> None:
        self._arrays, self._changed, self._scope = arrays, changed, scope
        self._values: dict[str, Output] = {}
        self.assigned: dict[str, None] = {}

    def read(self, name: str) -> Output:
        """Return the current value of a variable. Raises FrontendError if it has none."""
        if name not in self._values:
            self._values[name] = self._first_read(name)
        return self._values[name]

    def assign(self, name: str, value: Output) -> None:
        self._values[name] = value
        self.assigned[name] = None

    def sinks(self) -> list[Node]:
        """Return the Assign nodes that store the variables at the end of an inference."""
        return [self._scope.name(ops.Assign(self._values[name], name), f"{name}/assign") for name in self.assigned]

    def _first_read(self, name: str) -> Output:
        if name not in self._arrays:
            raise FrontendError(f"variable '{name}' has no value in the model's checkpoint")
        constant: Node = self._scope.name(Constant(self._arrays[name]), name)
        if name in self._changed:
            constant = self._scope.name(ops.ReadValue(constant, name), f"{name}/read")
        return constant.output(0)


class BodyVariables(Variables):
    """The variables as the body of an If or a Loop sees them.

    ``capture``: takes an outer value and a name, returns the value that represents it in the body.
    """

    def __init__(self, outer: Variables, capture: Callable[[Output, str], Output], scope: ModelScope) -> None:
        super().__init__({}, set(), scope)
        self._outer, self._capture = outer, capture
        # The outer value and its representation in the body, by variable name.
        self.captured: dict[str, tuple[Output, Output]] = {}

    def capture(self, name: str) -> tuple[Output, Output]:
        """Return the outer value of a variable and its representation in the body."""
        if name not in self.captured:
            value = self._outer.read(name)
            self.captured[name] = value, self._capture(value, name)
        return self.captured[name]

    def _first_read(self, name: str) -> Output:
        return self.capture(name)[1]
