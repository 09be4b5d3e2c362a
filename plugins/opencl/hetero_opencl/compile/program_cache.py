"""Cache of the programs of a model: one chain of segments per combination of input shapes."""

from __future__ import annotations

import math
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from hetero.core.containers import ElementType
from hetero.core.tensor import Tensor
from hetero.graph import Model, Node
from hetero.passes import shape_deciding_parameters, specialize
from hetero.plugin import span
from hetero_opencl.compile.segments import Cut, cut, is_container
from hetero_opencl.device.transfers import on_host
from hetero_opencl.lowering.program import KernelProgram

# Programs share the constants. Each request has buffers only for the programs that it ran last. A state that grows in a
# loop has another shape in each iteration, and again the same ones in the next inference.
MAX_PROGRAMS = 64
# Inputs that decide shapes are part of the cache key with their contents, up to this many elements. What larger ones
# decide is computed on the device and read back. Floats get a lower limit, as they seldom repeat.
MAX_KEY_INTEGERS, MAX_KEY_FLOATS = 256, 16


@dataclass(eq=False)
class Segment:
    """Program of the first part of a model, and the programs of what runs after it.

    ``bodies`` maps each host step of the part to the programs of its bodies. ``rest`` is None if nothing is left.
    """

    part: Cut
    program: KernelProgram
    bodies: dict[Node, list[ProgramCache]]
    rest: ProgramCache | None


class ProgramCache:
    """Creates the programs of a model or a body on demand, for concrete input shapes, and keeps the last used ones."""

    def __init__(
        self,
        model: Model,
        lower: Callable[[Model], KernelProgram],
        created: weakref.WeakSet[KernelProgram],
    ) -> None:
        """``lower(model)`` returns the program of a model of static shapes."""
        self.model, self._lower, self._created = model, lower, created
        deciding = shape_deciding_parameters(model)
        self._deciding = [i for i, node in enumerate(model.parameters) if node in deciding and not is_container(node)]
        self._untyped = [i for i, node in enumerate(model.parameters) if node.element_type.is_dynamic()]
        self._segments: OrderedDict[tuple, Segment] = OrderedDict()
        self._lock = threading.Lock()

    def make_if_static(self) -> None:
        """Create the program now if no input can change it: all shapes are static and no contents decide shapes."""
        ports = self.model.inputs
        if not self._deciding and not self._untyped and all(port.partial_shape.is_static for port in ports):
            self._segment([port.shape for port in ports], {}, {})

    @property
    def last_used(self) -> Segment | None:
        with self._lock:
            return next(reversed(self._segments.values()), None)

    def last_chain(self) -> list[KernelProgram]:
        """Return the programs used last, in execution order; a program stands before those of bodies that follow it."""
        chain: list[KernelProgram] = []
        segment = self.last_used
        while segment is not None:
            chain.append(segment.program)
            for bodies in segment.bodies.values():
                chain += [program for body in bodies for program in body.last_chain()]
            segment = segment.rest.last_used if segment.rest else None
        return chain

    def segment_for(self, inputs: Sequence[Tensor]) -> Segment:
        """Return the segment for inputs of these shapes, created on a cache miss.

        The contents of small inputs that decide shapes are part of the key.
        """
        values = {index: on_host(inputs[index]) for index in self._deciding if _may_decide(inputs[index])}
        types = {i: inputs[i].element_type for i in self._untyped}
        return self._segment([tuple(tensor.shape) for tensor in inputs], values, types)

    def _segment(
        self,
        shapes: Sequence[tuple[int, ...]],
        values: Mapping[int, np.ndarray],
        types: Mapping[int, ElementType],
    ) -> Segment:
        key = (*shapes, *types.values(), *(value.tobytes() for value in values.values()))
        with self._lock:
            segment = self._segments.get(key)
            if segment is None:
                with span("make program", self.model.friendly_name):
                    part = cut(specialize(self.model, dict(enumerate(shapes)), values, types))
                    segment = self._segments[key] = self._make(part)
                if len(self._segments) > MAX_PROGRAMS:
                    self._segments.popitem(last=False)
            self._segments.move_to_end(key)
        return segment

    def _make(self, part: Cut) -> Segment:
        program = self._lower(part.model)
        self._created.add(program)
        bodies = {
            node: [ProgramCache(body, self._lower, self._created) for body in filter(None, node.bodies)]
            for node in part.host_steps
        }
        rest = ProgramCache(part.rest.model, self._lower, self._created) if part.rest else None
        return Segment(part, program, bodies, rest)


@dataclass(frozen=True)
class StatefulPrograms:
    """Programs of a model with its variables as additional last inputs (``read``) and outputs (``written``)."""

    programs: ProgramCache
    read: list[str]
    written: list[str]


def _may_decide(tensor: Tensor) -> bool:
    is_integral = tensor.element_type.to_dtype().kind in "iub"
    return math.prod(tensor.shape) <= (MAX_KEY_INTEGERS if is_integral else MAX_KEY_FLOATS)
