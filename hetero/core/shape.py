"""PartialShape: a shape whose dimensions, or whose rank, may be unknown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Union, overload

from hetero.core.dimension import MAX_LENGTH, Dimension, DimensionLike, Symbol
from hetero.core.static_shape import Shape
from hetero.system.errors import ArgumentTypeError, GraphError

__all__ = ["MAX_RANK", "Dimension", "PartialShape", "PartialShapeLike", "concatenate"]

PartialShapeLike = Union["PartialShape", str, Sequence[DimensionLike]]

# The limit of numpy. Without a limit, a small file could request shapes that exhaust memory.
MAX_RANK = 64


class PartialShape:
    """A shape whose dimensions, or whose rank, may be unknown.

    ``PartialShape([1, 3, -1, (8, 64)])``, ``PartialShape("[1,3,?,8..64]")``, with names
    ``PartialShape("[batch,3,height=8..64]")``; ``PartialShape.dynamic()`` has an unknown rank, written ``[...]``.
    """

    __slots__ = ("_dimensions", "_lengths", "last_admitted")

    def __init__(self, shape: PartialShapeLike | None = ()) -> None:
        self.last_admitted: tuple[int, ...] | None = None  # the last shape for which `admits` returned True
        self._lengths: Shape | None = None  # the result of `to_shape`, which is asked for again and again
        self._dimensions: tuple[Dimension, ...] | None
        if isinstance(shape, PartialShape):
            self._dimensions = shape._dimensions
        elif isinstance(shape, str):
            self._dimensions = _parse_shape(shape)
        elif isinstance(shape, Iterable):
            self._dimensions = tuple(Dimension.of(d) for d in shape)
        elif shape is None:
            self._dimensions = None
        else:
            raise ArgumentTypeError(f"a shape is a sequence of dimensions or a string, not {shape!r}")

    @staticmethod
    def dynamic(rank: int | Dimension | None = None) -> PartialShape:
        """Return a shape of unknown rank, or of the given rank with unknown dimensions."""
        if isinstance(rank, Dimension):
            rank = rank.get_length() if rank.is_static else None
        if rank is not None and rank > MAX_RANK:
            raise GraphError(f"a tensor cannot have rank {rank}; the largest is {MAX_RANK}")
        return PartialShape(None if rank is None else [Dimension()] * rank)

    @property
    def rank(self) -> Dimension:
        return Dimension() if self._dimensions is None else Dimension(len(self._dimensions))

    @property
    def is_static(self) -> bool:
        return self._dimensions is not None and all(d.is_static for d in self._dimensions)

    @property
    def is_dynamic(self) -> bool:
        return not self.is_static

    @property
    def has_rank(self) -> bool:
        return self._dimensions is not None

    def to_shape(self) -> Shape:
        """Return the lengths. Raises GraphError if any of them is unknown."""
        if self._lengths is None:
            self._lengths = tuple.__new__(Shape, [d.get_length() for d in self._known()])
        return self._lengths

    def get_shape(self) -> Shape:
        return self.to_shape()

    @property
    def all_non_negative(self) -> bool:
        """Always True, as no dimension can be negative; for compatibility with OpenVINO."""
        return True

    def get_dimension(self, index: int) -> Dimension:
        return self[index]

    def get_min_shape(self) -> Shape:
        """Return the smallest length of each dimension; no dimensions if the rank is unknown."""
        return Shape([d.min_length for d in self._dimensions or ()])

    def get_max_shape(self) -> Shape:
        """Return the largest lengths, MAX_LENGTH if unbounded; no dimensions if the rank is unknown."""
        return Shape([MAX_LENGTH if d._max is None else d._max for d in self._dimensions or ()])

    def is_same(self, other: PartialShape) -> bool:
        """Return whether both are one static shape, also for all shapes of the model's inputs."""
        mine, others = self._dimensions, other._dimensions
        if mine is None or others is None or len(mine) != len(others):
            return False
        return all(a is b or a.is_same_length(b) for a, b in zip(mine, others))

    def refines(self, shape: PartialShapeLike) -> bool:
        """Return whether every shape that fits this one fits the other."""
        other = PartialShape(shape)
        if self._dimensions is None or other._dimensions is None:
            return other._dimensions is None
        return len(self) == len(other) and all(a.refines(b) for a, b in zip(self, other))

    def relaxes(self, shape: PartialShapeLike) -> bool:
        """Return whether every shape that fits the other fits this one."""
        return PartialShape(shape).refines(self)

    def same_scheme(self, shape: PartialShapeLike) -> bool:
        """Return whether both have the same rank, the same static lengths, and dynamic dimensions on the same axes."""
        other = PartialShape(shape)
        if self._dimensions is None or other._dimensions is None:
            return self._dimensions is other._dimensions
        return len(self) == len(other) and all(a.same_scheme(b) for a, b in zip(self, other))

    def admits(self, shape: tuple[int, ...]) -> bool:
        """Return whether a concrete shape fits this one. Called for each inference, so the last answer is cached."""
        if self._dimensions is None or shape == self.last_admitted:
            return True
        if len(self._dimensions) != len(shape):
            return False
        for dimension, length in zip(self._dimensions, shape):
            if length < dimension._min or (dimension._max is not None and length > dimension._max):
                return False
        self.last_admitted = tuple(shape)
        return True

    def compatible(self, shape: PartialShapeLike) -> bool:
        """Return whether some concrete shape fits both."""
        other = PartialShape(shape)
        if self._dimensions is None or other._dimensions is None:
            return True
        return len(self) == len(other) and all(a.compatible(b) for a, b in zip(self, other))

    def merge(self, other: PartialShapeLike) -> PartialShape:
        """Return the intersection of both. Raises GraphError if it is empty."""
        other = PartialShape(other)
        if not self.compatible(other):
            raise GraphError(f"shapes {self} and {other} do not fit")
        if self._dimensions is None or other._dimensions is None:
            return other if self._dimensions is None else self
        return PartialShape([a.merge(b) for a, b in zip(self, other)])

    def hull(self, other: PartialShapeLike) -> PartialShape:
        """Return the smallest partial shape that contains both; its rank is unknown if the ranks differ."""
        other = PartialShape(other)
        if self._dimensions is None or other._dimensions is None or len(self) != len(other):
            return PartialShape.dynamic()
        return PartialShape([a.hull(b) for a, b in zip(self, other)])

    def broadcast(self, other: PartialShapeLike) -> PartialShape:
        """Return the shape after numpy broadcasting. Raises GraphError if the two do not broadcast."""
        other = PartialShape(other)
        if self._dimensions is None or other._dimensions is None:
            return PartialShape.dynamic()
        rank = max(len(self), len(other))
        try:
            return PartialShape([a.broadcast(b) for a, b in zip(self._padded(rank), other._padded(rank))])
        except GraphError:
            raise GraphError(f"shapes {self} and {other} do not broadcast") from None

    def element_count(self) -> Dimension:
        """Return the product of all dimensions."""
        if self._dimensions is None:
            return Dimension()
        count = Dimension(1)
        for dimension in self._dimensions:
            count = count * dimension
        return count

    def with_own_symbols(self) -> PartialShape:
        """Return the same shape with a new symbol for each dynamic dimension, of the same name."""
        if self.is_static or not self.has_rank:
            return self
        return PartialShape([d.with_symbol(Symbol(d.name)) for d in self])

    @property
    def names(self) -> dict[str, str]:
        """The names of unknown lengths by axis, a number as text; axes without a name are left out."""
        return {str(axis): d.name for axis, d in enumerate(self._dimensions or ()) if d.name}

    def with_names(self, names: Mapping[str, str]) -> PartialShape:
        """Return the same shape whose dynamic dimensions have these names by axis, as ``names`` returns them."""
        if not names or not self.has_rank:
            return self
        named = (names.get(str(axis)) for axis in range(len(self)))
        return PartialShape([d.with_symbol(Symbol(str(name))) if name else d for d, name in zip(self, named)])

    def without_symbols(self) -> PartialShape:
        """Return the same shape without symbols, for a value whose lengths may differ from those of its source."""
        return self if self.is_static or not self.has_rank else PartialShape([d.with_symbol(None) for d in self])

    def _padded(self, rank: int) -> tuple[Dimension, ...]:
        return (Dimension(1),) * (rank - len(self)) + self._known()

    def _known(self) -> tuple[Dimension, ...]:
        if self._dimensions is None:
            raise GraphError("the rank of the shape is not known")
        return self._dimensions

    def __len__(self) -> int:
        return len(self._known())

    def __iter__(self) -> Iterator[Dimension]:
        return iter(self._known())

    @overload
    def __getitem__(self, index: int) -> Dimension: ...
    @overload
    def __getitem__(self, index: slice) -> PartialShape: ...

    def __getitem__(self, index: int | slice) -> Dimension | PartialShape:
        """Return one dimension, or a PartialShape for a slice. Raises GraphError if there is no such dimension."""
        dimensions = self._known()
        if isinstance(index, slice):
            return PartialShape(dimensions[index])
        try:
            return dimensions[index]
        except IndexError:
            raise GraphError(f"the shape {self} has no dimension {index}") from None

    def __setitem__(self, index: int, dimension: DimensionLike) -> None:
        """Replace a dimension. Raises GraphError if there is no such dimension."""
        dimensions = [] if self._dimensions is None else list(self._dimensions)
        try:
            dimensions[index] = Dimension.of(dimension)
        except IndexError:
            raise GraphError(f"the shape {self} has no dimension {index}") from None
        self._dimensions, self._lengths, self.last_admitted = tuple(dimensions), None, None

    def copy(self) -> PartialShape:
        """Return a shape of the same dimensions, which does not follow changes of this one."""
        shape = object.__new__(PartialShape)
        shape._dimensions, shape._lengths, shape.last_admitted = self._dimensions, self._lengths, None
        return shape

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> PartialShape:
        return self.copy()

    def __eq__(self, other: object) -> bool:
        if isinstance(other, (list, tuple)):
            other = PartialShape(other)
        return isinstance(other, PartialShape) and self._dimensions == other._dimensions

    def __hash__(self) -> int:
        return hash(self._dimensions)

    def to_string(self) -> str:
        return "[...]" if self._dimensions is None else f"[{','.join(map(str, self._dimensions))}]"

    __str__ = to_string

    def described(self) -> str:
        """Return the shape as text with the names of unknown lengths: ``[batch,3,?]``, ``[batch=1..8,3,?]``."""
        if self._dimensions is None:
            return str(self)
        texts = [d.name if d.name and d == -1 else f"{d.name}={d}" if d.name else str(d) for d in self]
        return f"[{','.join(texts)}]"

    def __repr__(self) -> str:
        return f"<PartialShape: {self}>"


def concatenate(*parts: Iterable[DimensionLike]) -> PartialShape:
    """Concatenate iterables of dimensions into one shape."""
    return PartialShape([dimension for part in parts for dimension in part])


def _parse_shape(text: str) -> tuple[Dimension, ...] | None:
    body = text.strip()
    if body.startswith("[") and body.endswith("]"):
        body = body[1:-1].strip()
    if body == "...":
        return None
    return tuple(map(Dimension.of, body.split(","))) if body else ()
