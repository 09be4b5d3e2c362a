"""The programs of a class of shapes: the passes have run once for all, and primitives are chosen for each shape."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable

from hetero.compiler import rarer_collections
from hetero.graph import Model, is_terminal
from hetero.plugin import ExecutedStep, ExecutionTimes, make_runtime_model, span
from hetero_onednn.program import PrimitiveProgram
from hetero_onednn.varying_model import VaryingModel

#: The number of shapes of a class whose primitives are kept, those used last. With 16, pictures of forty widths in turn
#: have all of them made anew.
MAX_SHAPES = 64


class ShapePrograms:
    """Makes the program of a transformed model for the lengths of its symbols on demand. Thread-safe."""

    def __init__(
        self,
        model: Model,
        varying: VaryingModel | None,
        lower: Callable[[Model], PrimitiveProgram],
        is_full: Callable[[], bool],
    ) -> None:
        """``lower(model)`` returns the program for the shapes that the model has.

        ``varying`` gives it those, None if they are always the same. The first program is made at once. ``is_full()``
        returns whether programs take too much memory: then those used longest ago are dropped.
        """
        self._model, self._varying, self._lower, self._is_full = model, varying, lower, is_full
        self._programs: OrderedDict[tuple[int, ...], PrimitiveProgram] = OrderedDict()
        self._lock = threading.Lock()
        self.program_for(varying.hints if varying else ())

    def program_for(self, lengths: tuple[int, ...]) -> PrimitiveProgram:
        """Return the program for these lengths of the symbols, made on a cache miss."""
        with self._lock:
            program = self._programs.get(lengths)
            if program is None:
                with span("make primitives", self._model.friendly_name), rarer_collections():
                    if self._varying is not None:
                        self._varying.give(lengths)
                    program = self._programs[lengths] = self._lower(self._model)
                while len(self._programs) > 1 and (len(self._programs) > MAX_SHAPES or self._is_full()):
                    self._programs.popitem(last=False)
            self._programs.move_to_end(lengths)
            return program

    @property
    def programs(self) -> list[PrimitiveProgram]:
        """The programs that are kept, the one used last at the end."""
        with self._lock:
            return [*self._programs.values()]

    def runtime_model(self, times: ExecutionTimes) -> Model:
        """Return the model that runs, with the implementations and the shapes of the program used last."""
        with self._lock:
            lengths, program = next(reversed(self._programs.items()))
            if self._varying is not None:
                self._varying.give(lengths)
            implementations = {step.node: step.primitive.implementation for step in program.steps if not step.role}
            steps = [
                ExecutedStep(node, implementations.get(node, "view"))
                for node in self._model.get_ordered_ops()
                if not is_terminal(node)
            ]
            return make_runtime_model(self._model, steps, times)
