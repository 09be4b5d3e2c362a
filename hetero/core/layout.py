"""Layout: the names of a tensor's dimensions."""

from __future__ import annotations

import re
from collections.abc import Iterable

from hetero.core.shape import PartialShape
from hetero.system.errors import ArgumentTypeError, GraphError

_ALIASES = {
    "BATCH": "N", "B": "N", "CHANNELS": "C", "CHANNEL": "C", "DEPTH": "D", "HEIGHT": "H", "WIDTH": "W",
}  # fmt: skip
_ELLIPSIS = "..."
_SCALAR = "**SCALAR**"
# A name has letters and digits, and may have underscores.
_NAME = re.compile("(?=.*[A-Za-z0-9])[A-Za-z0-9_]+", re.ASCII)

# The names of consecutive dimensions; None for a dimension without a name.
Names = tuple[str | None, ...]


class Layout:
    """The names of a tensor's dimensions, such as N, C, H and W. Immutable.

    ``Layout("NHWC")`` has a letter for each dimension, ``Layout("[N,channels,pose]")`` a name. ``?`` is a dimension
    without a name, ``...`` any number of them. ``Layout()`` is empty: it has no information. Names are the same in
    any case; batch, channels, depth, height and width are N, C, D, H and W.
    """

    __slots__ = ("_first", "_last")

    def __init__(self, layout_str: str = "") -> None:
        if not isinstance(layout_str, str):
            raise ArgumentTypeError(f"Layout takes a string such as NCHW, not {layout_str!r}")
        # The names of the first dimensions, and those behind the ellipsis: None if there is no ellipsis.
        self._first: Names
        self._last: Names | None
        self._first, self._last = _parse(layout_str)

    @classmethod
    def of_names(cls, names: Iterable[str | None]) -> Layout:
        """Return the layout with these dimensions; None is a dimension without a name."""
        layout = cls()
        layout._first, layout._last = tuple(names), None
        return layout

    @staticmethod
    def scalar() -> Layout:
        """Return the layout of a tensor without dimensions."""
        return Layout.of_names(())

    @property
    def empty(self) -> bool:
        """Whether the layout has no information."""
        return not self._first and self._last == ()

    @property
    def rank(self) -> int | None:
        """The number of dimensions, None if it is not known."""
        return len(self._first) if self._last is None else None

    def names(self, rank: int | None = None) -> Names:
        """Return the names of the dimensions of a tensor of this rank, which is needed if the layout has none.

        Raises GraphError if the number of dimensions is not known, or too small.
        """
        if self._last is None:
            return self._first
        if rank is None:
            raise GraphError(f"the positions of dimensions in layout {self} are not known if the rank is not known")
        unnamed = rank - len(self._first) - len(self._last)
        if unnamed < 0:
            raise GraphError(f"layout {self} does not fit a tensor with {rank} dimensions")
        return self._first + (None,) * unnamed + self._last

    def fits(self, shape: PartialShape) -> bool:
        """Return whether some tensor of the shape can have this layout."""
        if not shape.has_rank:
            return True
        return len(shape) == self.rank or (self._last is not None and len(shape) >= len(self._first) + len(self._last))

    def has_name(self, dimension_name: str) -> bool:
        return _known_name(dimension_name) in self._indices()

    def get_index_by_name(self, dimension_name: str) -> int:
        """Return the index of a dimension, from the end (negative) if it is behind the ellipsis.

        Raises GraphError if there is none of the name.
        """
        index = self._indices().get(_known_name(dimension_name))
        if index is None:
            raise GraphError(f"layout {self} has no dimension {dimension_name}")
        return index

    def _indices(self) -> dict[str, int]:
        last = self._last or ()
        indices = {name: index for index, name in enumerate(self._first) if name}
        return indices | {name: index for index, name in enumerate(last, -len(last)) if name}

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str):
            other = Layout(other)
        return isinstance(other, Layout) and (self._first, self._last) == (other._first, other._last)

    __hash__ = None  # type: ignore[assignment]  # as in OpenVINO: a layout equals strings of any spelling

    def to_string(self) -> str:
        if not self._first and self._last is None:
            return _SCALAR
        names = self._first if self._last is None else (*self._first, _ELLIPSIS, *self._last)
        return f"[{','.join(name or '?' for name in names)}]"

    __str__ = to_string

    def __repr__(self) -> str:
        return f"<Layout: {self}>"


def _known_name(name: str) -> str:
    return _ALIASES.get(name.upper(), name.upper())


def _parse(text: str) -> tuple[Names, Names | None]:
    if not text:
        return (), ()
    stripped = text.strip()
    if stripped == _SCALAR:
        return (), None
    if stripped.startswith("[") and stripped.endswith("]"):
        first, last = _parts(stripped[1:-1], ",")
    else:
        first, last = _parts(stripped, "")
    if last is None and not first:
        raise GraphError(f"layout '{text}' has no dimensions; write a layout such as NCHW, or ... for an unknown one")
    names = [_checked_name(name.strip(), text) for name in (*first, *(last or ()))]
    for index, name in enumerate(names):
        if name is not None and name in names[:index]:
            raise GraphError(f"layout '{text}' has dimension {name} more than once")
    return tuple(names[: len(first)]), None if last is None else tuple(names[len(first) :])


def _parts(text: str, separator: str) -> tuple[list[str], list[str] | None]:
    """Split a layout into the names before and behind its ellipsis; the latter are None if it has no ellipsis."""
    before, ellipsis, behind = text.partition(_ELLIPSIS)
    if not separator:
        return list(before), list(behind) if ellipsis else None
    before, behind = before.strip(), behind.strip()
    if ellipsis and (before[-1:] not in ("", separator) or behind[:1] not in ("", separator)):
        raise GraphError(f"layout '[{text}]' needs a comma on both sides of ... if there is a dimension")
    # A comma may follow the last name.
    first = before.removesuffix(separator).split(separator) if before else []
    last = behind.removeprefix(separator).split(separator) if behind else []
    return first, last if ellipsis else None


def _checked_name(name: str, text: str) -> str | None:
    if name == "?":
        return None
    if not _NAME.fullmatch(name):
        raise GraphError(
            f"'{name}' in layout '{text}' is not the name of a dimension: names are of letters, digits and _, "
            "with at least one letter or digit; ? has no name, and ... stands for any dimensions once"
        )
    return _known_name(name)


def has_batch(layout: Layout) -> bool:
    return _layout(layout).has_name("N")


def batch_idx(layout: Layout) -> int:
    return _layout(layout).get_index_by_name("N")


def has_channels(layout: Layout) -> bool:
    return _layout(layout).has_name("C")


def channels_idx(layout: Layout) -> int:
    return _layout(layout).get_index_by_name("C")


def has_depth(layout: Layout) -> bool:
    return _layout(layout).has_name("D")


def depth_idx(layout: Layout) -> int:
    return _layout(layout).get_index_by_name("D")


def has_height(layout: Layout) -> bool:
    return _layout(layout).has_name("H")


def height_idx(layout: Layout) -> int:
    return _layout(layout).get_index_by_name("H")


def has_width(layout: Layout) -> bool:
    return _layout(layout).has_name("W")


def width_idx(layout: Layout) -> int:
    return _layout(layout).get_index_by_name("W")


def _layout(layout: Layout) -> Layout:
    if not isinstance(layout, Layout):
        raise ArgumentTypeError(f"a Layout is needed, not {layout!r}")
    return layout
