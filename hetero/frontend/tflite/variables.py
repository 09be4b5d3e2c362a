"""What a model remembers from one inference to the next, while it is translated in the order of its operators."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

from hetero import ops
from hetero.errors import FrontendError
from hetero.graph import Node, Output


class Variables:
    """The variables of a model by their names, each with the value that it has at the place that is translated.

    So what was set before is read as the value itself; ReadValue is for what an inference finds, and Assign for what it
    leaves.
    """

    def __init__(self) -> None:
        self._values: dict[str, Output] = {}
        self._assigned: set[str] = set()
        self._initial: dict[str, Output] = {}
        self._initializing = False
        # Keys and values of hash tables.
        self.tables: dict[str, tuple[Output, Output]] = {}

    @property
    def assigned(self) -> list[str]:
        """The names of those that are set."""
        return sorted(self._assigned)

    @contextlib.contextmanager
    def initializing(self) -> Iterator[None]:
        """Within the ``with`` block variables are given what they begin with."""
        before, self._initializing = self._initializing, True
        try:
            yield
        finally:
            self._initializing = before

    def read(self, name: str, initial: Output | None = None) -> Output:
        """The value at this place. Raises FrontendError where it never got one."""
        if self._initializing and name in self._initial:
            return self._initial[name]
        if name not in self._values:
            self._values[name] = self._found(name, initial)
        return self._values[name]

    def assign(self, name: str, value: Output) -> None:
        """Set a variable. Raises FrontendError where its first value comes too late."""
        if not self._initializing:
            self._values[name] = value
            self._assigned.add(name)
        elif name in self._values:
            raise FrontendError(f"the variable '{name}' gets its first value after it was used")
        else:
            self._initial[name] = value

    def sinks(self) -> list[Node]:
        """What sets the variables at the end of an inference."""
        return [ops.Assign(self._values[name], name) for name in self.assigned]

    def _found(self, name: str, initial: Output | None) -> Output:
        initial = self._initial.get(name, initial)
        if initial is None:
            raise FrontendError(f"the variable '{name}' is read before anything gives it a value")
        return ops.ReadValue(initial, name).output(0)


class BodyVariables(Variables):
    """Those that a graph within another one sees. ``enter`` makes of a value around it, and a name, the value there."""

    def __init__(self, outer: Variables, enter: Callable[[Output, str], Output]) -> None:
        super().__init__()
        self._outer, self._enter = outer, enter
        # Of each variable that came in the value around the body and what stands for it there.
        self.entered: dict[str, tuple[Output, Output]] = {}
        self.tables = outer.tables

    def enter(self, name: str, initial: Output | None = None) -> tuple[Output, Output]:
        """The value around the body and what stands for it there, of a variable that may be set here only."""
        if name not in self.entered:
            value = self._outer.read(name, initial)
            self.entered[name] = value, self._enter(value, name)
        return self.entered[name]

    def _found(self, name: str, initial: Output | None) -> Output:
        return self.enter(name, initial)[1]
