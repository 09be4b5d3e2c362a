"""The variables of a model during translation."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Set

import numpy as np

from hetero import ops
from hetero.core.shape import PartialShape
from hetero.frontend.translation.subgraph import ModelScope
from hetero.graph import Constant, Node, Output
from hetero.system.errors import FrontendError


class Variables:
    """The variables by name, each with its value after the operators translated so far.

    A read after an assignment within the same inference returns the assigned value directly. ReadValue is created only
    for the value from the previous inference, and Assign for the last value of an inference. ``arrays``: the initial
    contents in the file. ``changed``: the names of the variables that the model changes, None if that is unknown;
    others are constants.
    """

    def __init__(
        self, scope: ModelScope, arrays: Mapping[str, np.ndarray] | None = None, changed: Set[str] | None = None
    ) -> None:
        self._scope, self._arrays, self._changed = scope, {} if arrays is None else arrays, changed
        self._values: dict[str, Output] = {}
        self._initial: dict[str, Output] = {}
        self._shapes: dict[str, PartialShape] = {}
        self._is_initializing = False
        # The names of the variables that the model assigns; the values are None.
        self.assigned: dict[str, None] = {}

    def declare(self, name: str, shape: PartialShape) -> None:
        """Set the shape of a variable, if its contents may get another shape than the first ones have."""
        self._shapes[name] = shape

    @contextlib.contextmanager
    def initializing(self) -> Iterator[None]:
        """Context manager in which assignments set initial values."""
        before, self._is_initializing = self._is_initializing, True
        try:
            yield
        finally:
            self._is_initializing = before

    def read(self, name: str, initial: Output | None = None) -> Output:
        """Return the current value of a variable. Raises FrontendError if it has no initial value."""
        if self._is_initializing and name in self._initial:
            return self._initial[name]
        if name not in self._values:
            self._values[name] = self._first_read(name, initial)
        return self._values[name]

    def assign(self, name: str, value: Output) -> None:
        """Set a variable. Raises FrontendError if its initial value is set after its first use."""
        if not self._is_initializing:
            self._values[name] = value
            self.assigned[name] = None
        elif name in self._values:
            raise FrontendError(f"variable '{name}' gets its initial value after its first use")
        else:
            self._initial[name] = value

    def sinks(self) -> list[Node]:
        """Return the Assign nodes that store the variables at the end of an inference."""
        return [self._scope.name(ops.Assign(self._values[name], name), f"{name}/assign") for name in self.assigned]

    def in_body(self, scope: ModelScope, capture: Callable[[Output, str], Output] | None = None) -> BodyVariables:
        """Return the variables as the body of an If or a Loop sees them."""
        return BodyVariables(self, scope, capture or scope.capture)

    def _first_read(self, name: str, initial: Output | None) -> Output:
        """Return the value of a variable that was neither read nor assigned before."""
        initial = self._initial.get(name, initial)
        if initial is None and name in self._arrays:
            initial = self._scope.name(Constant(self._arrays[name]), name).output(0)
        if initial is None:
            raise FrontendError(f"variable '{name}' is read, but has no initial value")
        if self._changed is not None and name not in self._changed:
            return initial
        value = ops.ReadValue(initial, name, variable_shape=self._shapes.get(name)).output(0)
        self._scope.name_new_nodes([value], self._scope.unique.take(f"{name}/read"))
        return value


class BodyVariables(Variables):
    """The variables as seen in the body of an If or a Loop, whose state is ``scope``.

    ``capture``: takes an outer value and a name, returns the value that represents it in the body.
    """

    def __init__(self, outer: Variables, scope: ModelScope, capture: Callable[[Output, str], Output]) -> None:
        super().__init__(scope)
        self._outer, self._capture = outer, capture
        # The outer value and its representation in the body, by variable name.
        self.captured: dict[str, tuple[Output, Output]] = {}

    def capture(self, name: str, initial: Output | None = None) -> tuple[Output, Output]:
        """Return the outer value of a variable and its representation in the body."""
        if name not in self.captured:
            value = self._outer.read(name, initial)
            self.captured[name] = value, self._capture(value, name)
        return self.captured[name]

    def _first_read(self, name: str, initial: Output | None) -> Output:
        return self.capture(name, initial)[1]
