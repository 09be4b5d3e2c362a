"""Cache of the programs of a model: one per combination of input shapes."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Generic, TypeVar

import numpy as np

from hetero.core.containers import ContainerType, ElementType
from hetero.graph import Model, Node
from hetero.passes import shape_deciding_parameters, specialize
from hetero.system.tracing import span

Program = TypeVar("Program")

#: A state that grows in a loop has another shape in each iteration, and again the same ones in the next inference.
MAX_PROGRAMS = 64
_NO_TYPES: Mapping[int, ElementType] = {}


class ProgramCache(Generic[Program]):
    """Makes the programs of a model on demand, for concrete input shapes, and keeps the last used ones. Thread-safe."""

    def __init__(
        self,
        model: Model,
        make: Callable[[Model], Program],
        deciding: Collection[Node] = (),
        is_full: Callable[[], bool] = lambda: False,
    ) -> None:
        """``make(model)`` returns the program of a model of static shapes.

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
        self._programs: OrderedDict[tuple[Any, ...], Program] = OrderedDict()
        #: The program of a model that no input can change, once it is made.
        self.only: Program | None = None
        self._lock = threading.Lock()

    def make_if_static(self) -> None:
        """Make the program now if no input can change it: all shapes are static and no contents decide shapes."""
        ports = self.model.inputs
        if not self.deciding and not self.untyped and all(port.partial_shape.is_static for port in ports):
            self.only = self.program_for([port.shape for port in ports], {})

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
        key = (*shapes, *types.values(), *(value.tobytes() for value in values.values()))
        with self._lock:
            program = self._programs.get(key)
            if program is None:
                with span("make program", self.model.friendly_name):
                    program = self._make(specialize(self.model, dict(enumerate(shapes)), values, types))
                self._programs[key] = program
                while len(self._programs) > 1 and (len(self._programs) > MAX_PROGRAMS or self._is_full()):
                    self._programs.popitem(last=False)
            self._programs.move_to_end(key)
        return program
