"""Cache of the programs of a model: one for a class of input shapes, or for a combination of them."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Generic, TypeVar

import numpy as np

from hetero.compiler.shape_class import ShapeClass
from hetero.compiler.symbolic import guards_for, likely_shapes, specialize_for_lengths
from hetero.core.containers import ContainerType, ElementType
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
# How often programs for typical lengths may turn out not to serve a shape, until none are made any more.
_TYPICAL_TRIES = 3
_NO_TYPES: Mapping[int, ElementType] = {}


def constants_budget(byte_size: int) -> int:
    """Return how many bytes the constants of all programs of a model may take, if those of one take ``byte_size``."""
    return max(MIN_BYTES, LAYOUTS * byte_size)


class ProgramCache(Generic[Program]):
    """Makes the programs of a model on demand, for concrete input shapes, and keeps the last used ones. Thread-safe."""

    def __init__(
        self,
        model: Model,
        make: Callable[..., Program | None],
        deciding: Collection[Node] = (),
        is_full: Callable[[], bool] = lambda: False,
        takes_lengths: bool = False,
    ) -> None:
        """``make(model)`` returns the program of a model of static shapes.

        With ``takes_lengths`` ``make(model, guards)`` returns that of one whose lengths may be Lengths, None if there
        has to be a program for each shape.

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
        self._typical_tries = _TYPICAL_TRIES
        self._has_classes = takes_lengths and any(port.partial_shape.is_dynamic for port in model.inputs)
        #: The program of a model that no input can change, once it is made.
        self.only: Program | None = None
        self._lock = threading.Lock()

    def make_ahead(self, states: Sequence[bool] = ()) -> None:
        """Make the program now if no contents of inputs decide it: for a likely class of shapes if these are dynamic.

        It is the only one if all shapes are static. ``states``: for each of the last inputs, which are contents of
        variables, whether these grow along their first axis.
        """
        ports = self.model.inputs
        if self.deciding or self.untyped:
            return
        if all(port.partial_shape.is_static for port in ports):
            self.only = self.program_for([port.shape for port in ports], {})
        elif self._has_classes and (shapes := likely_shapes(self.model, states)):
            made = self._make_class(shapes, {}, {}, is_typical=True)
            if made is not None:
                self._classes[tuple(map(len, shapes)),] = [made[0]]
                self._keep(*made)

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
                ranks = tuple(map(len, shapes))
                key = (ranks, *types.values(), *(value.tobytes() for value in values.values()))
                for known in self._classes.get(key, ()):
                    lengths = known.lengths_of(shapes)
                    if lengths is not None and known in self._programs:
                        self._programs.move_to_end(known)
                        return self._programs[known], lengths
                # Typical lengths may not fit together, or have properties that others lack.
                for is_typical in (True, False) if self._typical_tries else (False,):
                    made = self._make_class(shapes, values, types, is_typical)
                    if made is not None and (lengths := made[0].lengths_of(shapes)) is not None:
                        self._typical_tries -= not is_typical and self._typical_tries > 0
                        self._classes.setdefault(key, []).insert(0, made[0])
                        self._keep(*made)
                        return made[1], lengths
            program = self._program_of_shapes(shapes, values, types)
            self._has_classes = False  # now that the shapes are known to fit the model
            return program, ()

    def _make_class(
        self,
        shapes: Sequence[tuple[int, ...]],
        values: Mapping[int, np.ndarray],
        types: Mapping[int, ElementType],
        is_typical: bool,
    ) -> tuple[ShapeClass, Program] | None:
        guards, symbolic = guards_for(self.model, shapes, is_typical)
        try:
            with span("make program", self.model.friendly_name), rarer_collections():
                program = self._make(specialize_for_lengths(self.model, symbolic, values, types), guards)
        except Exception as error:
            # What a kernel of somebody else does with a Length is not known; the program for one shape has the answer.
            kind = "typical lengths" if is_typical else "lengths"
            log.debug("'%s' has no program for %s: %s: %s", self.model.friendly_name, kind, type(error).__name__, error)
            return None
        return None if program is None else (ShapeClass(guards, symbolic), program)

    def _program_of_shapes(
        self, shapes: Sequence[tuple[int, ...]], values: Mapping[int, np.ndarray], types: Mapping[int, ElementType]
    ) -> Program:
        key = (*shapes, *types.values(), *(value.tobytes() for value in values.values()))
        program = self._programs.get(key)
        if program is None:
            with span("make program", self.model.friendly_name), rarer_collections():
                program = self._make(specialize(self.model, dict(enumerate(shapes)), values, types))
            assert program is not None
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
