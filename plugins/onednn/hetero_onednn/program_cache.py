"""Cache of the programs of a model: one per combination of input shapes."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from hetero.graph import Model
from hetero.passes import shape_deciding_parameters, specialize
from hetero.system.tracing import span
from hetero_onednn.program import PrimitiveProgram
from hetero_onednn.shape_arithmetic import shape_parameters

# Programs share the constants.
MAX_PROGRAMS = 64


class ProgramCache:
    """Creates the programs of a model on demand, for concrete input shapes, and keeps the last used ones."""

    def __init__(self, model: Model, lower: Callable[[Model], PrimitiveProgram]) -> None:
        """``lower(model)`` returns the program of a model of static shapes."""
        self._model, self._lower = model, lower
        deciding = {*shape_deciding_parameters(model), *shape_parameters(model)}
        self._deciding = [index for index, parameter in enumerate(model.parameters) if parameter in deciding]
        self._programs: OrderedDict[tuple, PrimitiveProgram] = OrderedDict()
        self._lock = threading.Lock()

    def make_if_static(self) -> None:
        """Create the program now if no input can change it: all shapes are static and no contents decide shapes."""
        ports = self._model.inputs
        if not self._deciding and all(port.partial_shape.is_static for port in ports):
            self._program([port.shape for port in ports], {})

    @property
    def last_used(self) -> PrimitiveProgram | None:
        with self._lock:
            return next(reversed(self._programs.values()), None)

    def program_for(self, inputs: Sequence[np.ndarray]) -> PrimitiveProgram:
        """Return the program for inputs of these shapes. The contents of inputs that decide shapes count too."""
        return self._program([array.shape for array in inputs], {index: inputs[index] for index in self._deciding})

    def _program(self, shapes: Sequence[tuple[int, ...]], values: Mapping[int, np.ndarray]) -> PrimitiveProgram:
        key = (*shapes, *(value.tobytes() for value in values.values()))
        with self._lock:
            program = self._programs.get(key)
            if program is None:
                with span("make program", self._model.friendly_name):
                    program = self._lower(specialize(self._model, dict(enumerate(shapes)), values))
                self._programs[key] = program
                if len(self._programs) > MAX_PROGRAMS:
                    self._programs.popitem(last=False)
            self._programs.move_to_end(key)
        return program
