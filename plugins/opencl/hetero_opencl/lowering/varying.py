"""What changes in a program from shape to shape: arguments, global sizes, sizes of buffers and of outputs.

A program that was lowered with Lengths is made of the numbers of the shape at hand, like any other one, and has beside
them the expressions of those that change.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from hetero.compiler import length_function
from hetero.core.lengths.expression import Expression
from hetero.core.lengths.guards import Guards
from hetero.core.lengths.length import AnyLength, Length, hint_of, hints_of
from hetero_opencl.device.launch import Buffer, Launch


class Place(NamedTuple):
    """A number that changes: item ``at`` of something, by the position of its expression."""

    of: int
    at: int
    expression: int


@dataclass(frozen=True)
class Numbers:
    """The numbers of a program for one shape."""

    values: Sequence[int]
    #: The global sizes of the commands in which they change.
    global_sizes: dict[int, tuple[int, ...]]
    output_shapes: list[tuple[int, ...] | None]


class Varying:
    """The expressions of the numbers of a program that change, and where the numbers are."""

    def __init__(self, guards: Guards) -> None:
        self.guards = guards
        self._expressions: dict[Expression, int] = {}
        #: Arguments of commands, in i32.
        self.arguments: list[Place] = []
        self._sizes: list[Place] = []
        #: Words of buffers of numbers.
        self.words: dict[Buffer, list[Place]] = {}
        self.byte_sizes: dict[Buffer, int] = {}
        self.offsets: dict[Buffer, int] = {}
        self._shapes: list[Place] = []
        self._global_sizes: list[tuple[int, ...]] = []
        self._output_shapes: list[tuple[int, ...] | None] = []

    def _index(self, length: Length) -> int:
        return self._expressions.setdefault(length.expression, len(self._expressions))

    def _places(self, at: int, lengths: Iterable[object]) -> list[Place]:
        return [Place(at, i, self._index(length)) for i, length in enumerate(lengths) if isinstance(length, Length)]

    def take_commands(self, commands: Sequence[Launch]) -> list[Launch]:
        """Return the commands with the numbers of the shape at hand, and note those that change."""
        for at, command in enumerate(commands):
            self.arguments += self._places(at, command.arguments)
            self._sizes += self._places(at, command.global_size)
            for buffer in command.buffers():
                if buffer.words and buffer not in self.words:
                    self.words[buffer] = self._places(0, buffer.words)
        fixed = [with_hints(command) for command in commands]
        self._global_sizes = [command.global_size for command in fixed]
        return fixed

    def take_buffers(self, buffers: Iterable[Buffer]) -> None:
        """Give buffers the sizes and offsets of the shape at hand, and note those that change."""
        for buffer in dict.fromkeys(buffers):
            if isinstance(buffer.byte_size, Length):
                self.byte_sizes[buffer] = self._index(buffer.byte_size)
                buffer.byte_size = hint_of(buffer.byte_size)
            if isinstance(buffer.offset, Length):
                self.offsets[buffer] = self._index(buffer.offset)
                buffer.offset = hint_of(buffer.offset)
            buffer.words = hints_of(buffer.words)

    def take_shapes(self, shapes: Sequence[tuple[AnyLength, ...] | None]) -> list[tuple[int, ...] | None]:
        """Return the shapes of the outputs at hand, and note those that change."""
        for at, shape in enumerate(shapes):
            self._shapes += self._places(at, shape or ())
        self._output_shapes = [None if shape is None else hints_of(shape) for shape in shapes]
        return self._output_shapes

    def close(self) -> None:
        """Generate the function, after all numbers are noted."""
        self.symbols = tuple(self.guards.hints)
        self.evaluate = length_function(self.symbols, list(self._expressions))
        #: The lengths of the symbols of the shape at hand, and the numbers for them.
        self.at_hand = tuple(self.guards.hints.values())
        self.hints = self.evaluate(self.at_hand)

    def numbers(self, lengths: Sequence[int]) -> Numbers:
        """Return the numbers for these lengths of the symbols."""
        values = self.evaluate(lengths)
        sizes: dict[int, list[int]] = {}
        for at, axis, index in self._sizes:
            sizes.setdefault(at, list(self._global_sizes[at]))[axis] = values[index]
        shapes = [None if shape is None else list(shape) for shape in self._output_shapes]
        for at, axis, index in self._shapes:
            shapes[at][axis] = values[index]  # type: ignore[index]  # None has no places
        return Numbers(
            values,
            {at: tuple(size) for at, size in sizes.items()},
            [None if shape is None else tuple(shape) for shape in shapes],
        )


def with_hints(launch: Launch) -> Launch:
    """Return a launch with the numbers of the shape at hand."""
    arguments = tuple(np.int32(hint_of(a)) if isinstance(a, Length) else a for a in launch.arguments)
    return replace(
        launch,
        arguments=arguments,
        global_size=hints_of(launch.global_size),
        parts=tuple(map(with_hints, launch.parts)),
    )
