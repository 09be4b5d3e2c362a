"""State of a model's variables during translation."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

from hetero import ops
from hetero.graph import Node, Output
from hetero.system.errors import FrontendError


class Variables:
    """The variables of a model by name, each with its value after the operators translated so far.

    A read after an assignment within the same inference returns the assigned value directly. ReadValue is created only
    for the value from the previous inference, and Assign for the last value of an inference.
    """

    def __init__(self) -> None:
        self._values: dict[str, Output] = {}
        self._assigned: set[str] = set()
        self._initial: dict[str, Output] = {}
        self._initializing = False
        # Keys and values of each hash table, by the table's name.
        self.tables: dict[str, tuple[Output, Output]] = {}

    @property
    def assigned(self) -> list[str]:
        """The names of the variables that the model assigns."""
        return sorted(self._assigned)

    @contextlib.contextmanager
    def initializing(self) -> Iterator[None]:
        """Context manager in which assignments set initial values."""
        before, self._initializing = self._initializing, True
        try:
            yield
        finally:
            self._initializing = before

    def read(self, name: str, initial: Output | None = None) -> Output:
        """Return the current value of a variable. Raises FrontendError if it has no initial value."""
        if self._initializing and name in self._initial:
            return self._initial[name]
        if name not in self._values:
            self._values[name] = self._first_read(name, initial)
        return self._values[name]

    def assign(self, name: str, value: Output) -> None:
        """Set a variable. Raises FrontendError if its initial value is set after its first use."""
        if not self._initializing:
            self._values[name] = value
            self._assigned.add(name)
        elif name in self._values:
            raise FrontendError(f"variable '{name}' gets its initial value after its first use")
        else:
            self._initial[name] = value

    def sinks(self) -> list[Node]:
        """Return the Assign nodes that store the variables at the end of an inference."""
        return [ops.Assign(self._values[name], name) for name in self.assigned]

    def _first_read(self, name: str, initial: Output | None) -> Output:
        """Return the value of a variable that was neither read nor assigned before."""
        initial = self._initial.get(name, initial)
        if initial is None:
            raise FrontendError(f"variable '{name}' is read, but has no initial value")
        return ops.ReadValue(initial, name).output(0)


class BodyVariables(Variables):
    """The variables as seen in the body of an If or a Loop.

    ``capture``: takes an outer value and a name, returns the value that represents it in the body.
    """

    def __init__(self, outer: Variables, capture: Callable[[Output, str], Output]) -> None:
        super().__init__()
        self._outer, self._capture = outer, capture
        # The outer value and its representation in the body, by variable name.
        self.captured: dict[str, tuple[Output, Output]] = {}
        self.tables = outer.tables

    def capture(self, name: str, initial: Output | None = None) -> tuple[Output, Output]:
        """Return the outer value of a variable and its representation in the body."""
        if name not in self.captured:
            value = self._outer.read(name, initial)
            self.captured[name] = value, self._capture(value, name)
        return self.captured[name]

    def _first_read(self, name: str, initial: Output | None) -> Output:
        return self.capture(name, initial)[1]
