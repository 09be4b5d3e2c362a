"""Cache of the programs of a model: one for a class of input shapes, or for a combination of them."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, Generic, TypeVar

import numpy as np

from hetero.compiler.shape_class import ShapeClass
from hetero.compiler.symbolic import (
    contents_of,
    guards_for,
    shapes_ahead,
    shapes_of_buckets,
    specialize_for_lengths,
)
from hetero.core.containers import ContainerType, ElementType
from hetero.core.lengths.guards import short_length, typical_length
from hetero.graph import Model, Node
from hetero.passes import shape_deciding_parameters, specialize
from hetero.system.garbage_collection import rarer_collections
from hetero.system.messages import get_logger
from hetero.system.tracing import span

log = get_logger("hetero.compiler")

Program = TypeVar("Program")

#: A state that grows in a loop has another shape in each iteration, and again the same ones in the next inference.
MAX_PROGRAMS = 64
# Programs for other shapes may want the weights in other layouts.
LAYOUTS, MIN_BYTES = 3, 1 << 26
# For which lengths of a bucket a program is made: the second one if a model takes none as long as the first.
_HINTS: tuple[Callable[[int], int], ...] = (typical_length, short_length)
_NO_TYPES: Mapping[int, ElementType] = {}


def constants_budget(byte_size: int) -> int:
    """Return how many bytes the constants of all programs of a model may take, if those of one take ``byte_size``."""
    return max(MIN_BYTES, LAYOUTS * byte_size)


class ProgramCache(Generic[Program]):
    """Makes the programs of a model on demand, for concrete input shapes, and keeps the last used ones. Thread-safe."""

    def __init__(
        self,
        model: Model,
        make: Callable[..., Program],
        deciding: Collection[Node] = (),
        is_full: Callable[[], bool] = lambda: False,
        takes_lengths: bool = False,
    ) -> None:
        """``make(model)`` returns the program of a model of static shapes.

        With ``takes_lengths`` ``make(model, guards)`` returns that of one whose lengths may be Lengths; it raises an
        error that says why if there has to be a program for each shape.

        ``deciding``: Parameters whose contents decide the program, besides those whose contents decide shapes.
        ``is_full()`` returns whether the programs take too much memory: then those used longest ago are dropped.
        """
        self.model, self._make, self._is_full = model, make, is_full
        contents = {*shape_deciding_parameters(model), *deciding}
        types = [parameter.get_output_element_type(0) for parameter in model.parameters]
        #: The indices of inputs whose contents decide the program, and of those whose element types do.
        self.deciding = [
            index
            for index, (parameter, kind) in enumerate(zip(model.parameters, types))
            if parameter in contents and not isinstance(kind, ContainerType)
        ]
        self.untyped = [index for index, kind in enumerate(types) if kind.is_dynamic()]
        self._programs: OrderedDict[Any, Program] = OrderedDict()  # the one used last is at the end
        # Those of classes of shapes, by what else decides them; their keys in ``_programs`` are the classes.
        self._classes: dict[tuple[Any, ...], list[ShapeClass]] = {}
        # The classes of programs for typical lengths, None for those for which none could be made.
        self._typical: dict[tuple[Any, ...], ShapeClass | None] = {}
        # Why there is no program for a class of shapes, if none could be made.
        self._why_one_shape = "" if takes_lengths else "the device has none for more"
        self._has_classes = takes_lengths and any(port.partial_shape.is_dynamic for port in model.inputs)
        #: The program of a model that no input can change, once it is made.
        self.only: Program | None = None
        self._lock = threading.Lock()

    def make_ahead(self, states: Sequence[int | None] = (), items: int = 1) -> None:
        """Make the program now if no contents of inputs decide it: for a likely class of shapes if these are dynamic.

        It is the only one if all shapes are static. A model that takes caches gets one for empty ones too.

        ``states``: for each of the last inputs, which are contents of variables, the axis along which it grows, None if
        that is not known. ``items``: of a likely batch.
        """
        ports = self.model.inputs
        if self.deciding or self.untyped:
            return
        if all(port.partial_shape.is_static for port in ports):
            self.only = self.program_for([port.shape for port in ports], {})
        elif self._has_classes:
            for shapes in shapes_ahead(self.model, states, items):
                self._typical_class(shapes, {}, {})

    def programs_of_buckets(self, states: Sequence[int | None] = ()) -> Iterator[Program]:
        """Yield the programs that serve the likely buckets of lengths, each when it is found or made.

        It may be dropped when the next one is made. ``states`` as in ``make_ahead``.
        """
        if self.deciding or self.untyped or not self._has_classes:
            return
        last = next(reversed(self._programs), None)
        for shapes in shapes_of_buckets(self.model, states):
            with self._lock:
                found = self._class_for(shapes, {}, {})
                if last in self._programs:
                    self._programs.move_to_end(last)
            if found is not None:
                yield found[0]

    def describe(self) -> list[str]:
        """Return a line for each program of a class of shapes, and one for those of one shape with the reason.

        Nothing if all shapes are static.
        """
        if self.only is not None:
            return []
        with self._lock:
            classes = [str(each) for each in self._programs if isinstance(each, ShapeClass)]
            lines = [f"a program for {each}" for each in reversed(classes)]
            if count := len(self._programs) - len(classes):
                because = f": {self._why_one_shape}" if self._why_one_shape else ""
                lines.append(f"{count} program{'s' * (count > 1)} for one shape each{because}")
        return lines

    @property
    def last_used(self) -> Program | None:
        with self._lock:
            return next(reversed(self._programs.values()), None)

    def program_for(
        self,
        shapes: Sequence[tuple[int, ...]],
        values: Mapping[int, np.ndarray],
        types: Mapping[int, ElementType] = _NO_TYPES,
    ) -> Program:
        """Return the program for inputs of these shapes, made on a cache miss.

        ``values`` are contents of inputs that decide the program, by index, and ``types`` the element types of those
        that have none in the model.
        """
        with self._lock:
            return self._program_of_shapes(shapes, values, types)

    def program_for_lengths(
        self,
        shapes: Sequence[tuple[int, ...]],
        values: Mapping[int, np.ndarray],
        types: Mapping[int, ElementType] = _NO_TYPES,
    ) -> tuple[Program, tuple[int, ...]]:
        """Return a program for a class of shapes that has these, and the lengths of its symbols.

        If there can be none, return that of ``program_for``, which has no symbols.
        """
        with self._lock:
            if self._has_classes:
                found = self._class_for(shapes, values, types)
                if found is not None:
                    return found
            program = self._program_of_shapes(shapes, values, types)
            self._has_classes = False  # now that the shapes are known to fit the model
            return program, ()

    def _class_for(
        self, shapes: Sequence[tuple[int, ...]], values: Mapping[int, np.ndarray], types: Mapping[int, ElementType]
    ) -> tuple[Program, tuple[int, ...]] | None:
        """Return a program for a class that has these shapes and the lengths of its symbols, made on a cache miss."""
        key, numbers = _key(shapes, values, types), _numbers_of(shapes, values)
        for known in self._classes.get(key, ()):
            lengths = known.lengths_of(numbers)
            if lengths is not None and known in self._programs:
                self._programs.move_to_end(known)
                return self._programs[known], lengths
        # Typical lengths may not fit together, or have properties that others lack.
        for make in (self._typical_class, self._make_class):
            made = make(shapes, values, types)
            if made is not None and (lengths := made.lengths_of(numbers)) is not None:
                return self._programs[made], lengths
        return None

    def _typical_class(
        self, shapes: Sequence[tuple[int, ...]], values: Mapping[int, np.ndarray], types: Mapping[int, ElementType]
    ) -> ShapeClass | None:
        """Return the class of the program for typical lengths of the buckets of these shapes, made on a cache miss."""
        key, numbers = _key(shapes, values, types), _numbers_of(shapes, values)
        for hint_of in _HINTS:
            hints = (key, *(hint_of(number) for each in numbers for number in each))
            if hints not in self._typical or self._typical[hints] not in (None, *self._programs):
                self._typical[hints] = self._make_class(shapes, values, types, hint_of)
            if (made := self._typical[hints]) is not None:
                return made
        return None

    def _make_class(
        self,
        shapes: Sequence[tuple[int, ...]],
        values: Mapping[int, np.ndarray],
        types: Mapping[int, ElementType],
        hint_of: Callable[[int], int] = int,
    ) -> ShapeClass | None:
        contents = _numbers_of(shapes, values)[len(shapes) :]
        guards, symbolic = guards_for(self.model, shapes, hint_of, contents)
        try:
            with span("make program", self.model.friendly_name), rarer_collections():
                program = self._make(specialize_for_lengths(self.model, symbolic, values, types), guards)
        except Exception as error:
            # What a kernel of somebody else does with a Length is not known; the program for one shape has the answer.
            kind, lengths = type(error).__name__, [*guards.hints.values()]
            log.debug("'%s' has no program for lengths as %s: %s: %s", self.model.friendly_name, lengths, kind, error)
            self._why_one_shape = str(error)
            return None
        made = ShapeClass(guards, symbolic)
        self._classes.setdefault(_key(shapes, values, types), []).insert(0, made)
        self._keep(made, program)
        return made

    def _program_of_shapes(
        self, shapes: Sequence[tuple[int, ...]], values: Mapping[int, np.ndarray], types: Mapping[int, ElementType]
    ) -> Program:
        key = (*shapes, *types.values(), *(value.tobytes() for value in values.values()))
        program = self._programs.get(key)
        if program is None:
            with span("make program", self.model.friendly_name), rarer_collections():
                program = self._make(specialize(self.model, dict(enumerate(shapes)), values, types))
            self._keep(key, program)
        self._programs.move_to_end(key)
        return program

    def _keep(self, key: Any, program: Program) -> None:
        self._programs[key] = program
        while len(self._programs) > 1 and (len(self._programs) > MAX_PROGRAMS or self._is_full()):
            self._programs.popitem(last=False)
            if len(self._classes) > MAX_PROGRAMS:
                alive = {
                    key: [each for each in known if each in self._programs] for key, known in self._classes.items()
                }
                self._classes = {key: known for key, known in alive.items() if known}
                self._typical = {hints: known for hints, known in self._typical.items() if known in self._programs}


def _key(
    shapes: Sequence[tuple[int, ...]], values: Mapping[int, np.ndarray], types: Mapping[int, ElementType]
) -> tuple[Any, ...]:
    """Return what decides a program for a class of shapes, besides what may be lengths."""
    others = [value.shape if contents_of(value) is not None else value.tobytes() for value in values.values()]
    return (tuple(map(len, shapes)), *types.values(), *others)


def _numbers_of(shapes: Sequence[tuple[int, ...]], values: Mapping[int, np.ndarray]) -> Sequence[tuple[int, ...]]:
    """Return the shapes, followed by the contents that may be lengths."""
    if not values:
        return shapes
    return [*shapes, *(each for value in values.values() if (each := contents_of(value)) is not None)]
