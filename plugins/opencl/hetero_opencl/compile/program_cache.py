"""Cache of the programs of a model: one chain of segments per combination of input shapes. They share the constants."""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hetero.compiler import ProgramCache
from hetero.core.lengths.guards import Guards
from hetero.core.tensor import Tensor
from hetero.graph import Model, Node
from hetero.system.errors import NotSupportedError
from hetero_opencl.compile.built_program import BuiltProgram
from hetero_opencl.compile.segments import Cut, cut
from hetero_opencl.device.transfers import on_host

# Inputs that decide shapes are part of the cache key with their contents, up to this many elements. What larger ones
# decide is computed on the device and read back. Floats get a lower limit, as they seldom repeat.
MAX_KEY_INTEGERS, MAX_KEY_FLOATS = 256, 16

CreatedPrograms = weakref.WeakKeyDictionary[BuiltProgram, None]


@dataclass(eq=False)
class Segment:
    """Program of the first part of a model, and the programs of what runs after it.

    ``bodies`` maps each host step of the part to the programs of its bodies. ``rest`` is None if nothing is left.
    """

    part: Cut
    program: BuiltProgram
    bodies: dict[Node, list[SegmentCache]]
    rest: SegmentCache | None


class SegmentCache(ProgramCache[Segment]):
    """Creates the segments of a model or a body on demand, for concrete input shapes, and keeps the last used ones."""

    def __init__(
        self,
        model: Model,
        lower: Callable[[Model, Guards | None], BuiltProgram],
        created: CreatedPrograms,
        is_full: Callable[[], bool],
    ) -> None:
        """``lower(model, guards)`` returns the program of a model of static shapes, which is added to ``created``.

        The guards are those of Lengths in the shapes, None if there are none. ``is_full``: see ``ProgramCache``.
        """
        super().__init__(model, self._make_segment, is_full=is_full, takes_lengths=True)
        self._lower, self._created = lower, created

    def last_chain(self) -> list[BuiltProgram]:
        """Return the programs used last, in execution order; a program stands before those of bodies that follow it."""
        chain: list[BuiltProgram] = []
        segment = self.last_used
        while segment is not None:
            chain.append(segment.program)
            for bodies in segment.bodies.values():
                chain += [program for body in bodies for program in body.last_chain()]
            segment = segment.rest.last_used if segment.rest else None
        return chain

    def segment_for(self, inputs: Sequence[Tensor]) -> tuple[Segment, tuple[int, ...]]:
        """Return the segment for inputs of these shapes, and the lengths of its symbols.

        The contents of small inputs that decide shapes count too.
        """
        if self.only is not None:
            return self.only, ()
        values = {index: on_host(inputs[index]) for index in self.deciding if _may_decide(inputs[index])}
        types = {index: inputs[index].element_type for index in self.untyped}
        return self.program_for_lengths([tuple(tensor.shape) for tensor in inputs], values, types)

    def _make_segment(self, model: Model, guards: Guards | None = None) -> Segment:
        part = cut(model)
        if guards is not None and (cause := part.cause):
            raise NotSupportedError(cause)
        program = self._lower(part.model, guards)
        self._created[program] = None
        bodies = {node: [self._cache_of(body) for body in filter(None, node.bodies)] for node in part.host_steps}
        rest = self._cache_of(part.rest.model) if part.rest else None
        return Segment(part, program, bodies, rest)

    def _cache_of(self, model: Model) -> SegmentCache:
        return SegmentCache(model, self._lower, self._created, self._is_full)


@dataclass(frozen=True)
class StatefulPrograms:
    """Programs of a model with its variables as additional last inputs (``read``) and outputs (``written``).

    If variables are ``chosen`` by the input at index ``beams``, their items are one more input. ``grows``: the
    axis along which each of the additional inputs grows, None if that is not known. ``in_place``: the indices of
    outputs that are written to memory which requests keep.
    """

    programs: SegmentCache
    read: list[str]
    written: list[str]
    grows: list[int | None]
    in_place: Sequence[int]
    chosen: Sequence[str] = ()
    beams: int = 0


def _may_decide(tensor: Tensor) -> bool:
    is_integral = tensor.element_type.to_dtype().kind in "iub"
    return math.prod(tensor.shape) <= (MAX_KEY_INTEGERS if is_integral else MAX_KEY_FLOATS)
