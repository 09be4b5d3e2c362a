"""Conversion between layouts: transpositions, and dimensions of length 1 that one of the layouts lacks."""

from __future__ import annotations

from collections.abc import Sequence

from hetero.core.layout import Layout
from hetero.core.shape import PartialShape
from hetero.system.errors import GraphError

_NAMES = {"C": "channels", "H": "height", "W": "width"}


def index_of(name: str, layout: Layout, shape: PartialShape) -> int:
    """Return the index of the dimension C, H or W. Raises GraphError if layout or shape do not have it."""
    if not layout.has_name(name):
        raise GraphError(f"layout {layout} has no {_NAMES[name]}; set a layout with {name}, such as NCHW")
    index = layout.get_index_by_name(name)
    if not shape.has_rank:
        raise GraphError(f"the {_NAMES[name]} of layout {layout} cannot be found in a tensor of unknown rank")
    if not -len(shape) <= index < len(shape):
        raise GraphError(f"shape {shape} has no dimension for the {_NAMES[name]} of layout {layout}")
    return index % len(shape)


def check_order(order: Sequence[int]) -> None:
    """Raise GraphError if the order is not one of all dimensions."""
    if sorted(order) != list(range(len(order))):
        raise GraphError(f"convert_layout takes each dimension from 0 to {len(order) - 1} once, not {list(order)}")


def permuted(layout: Layout, order: Sequence[int]) -> Layout:
    """Return the layout after a transposition. Raises GraphError if the order does not fit the layout."""
    check_order(order)
    if layout.empty:
        return layout
    names = layout.names()
    if len(names) != len(order):
        raise GraphError(f"layout {layout} cannot be converted by {list(order)}, which has {len(order)} dimensions")
    return Layout.of_names(names[index] for index in order)


def transposition(source: Layout, shape: PartialShape, target: Layout) -> list[int]:
    """Return the order of dimensions that converts a tensor from one layout to another; empty if it is unchanged.

    Dimensions without a name keep their order. Raises GraphError if the layouts differ in rank or names, or do not
    fit the shape.
    """
    if source == target or source.empty or target.empty:
        return []
    rank = len(shape) if shape.has_rank else None
    sources, targets = source.names(rank), target.names(rank)
    if len(sources) != len(targets):
        raise GraphError(f"layout {source} cannot be converted to {target}, which has another number of dimensions")
    if rank not in (None, len(sources)):
        raise GraphError(f"layout {source} cannot be converted to {target}: they do not fit the shape {shape}")
    fewer, more = sorted((set(sources) - {None}, set(targets) - {None}), key=len)
    if fewer - more:
        raise GraphError(f"layout {source} cannot be converted to {target}: only one has {_joined(fewer - more)}")
    rest = iter([index for index, name in enumerate(sources) if name not in fewer])
    order = [sources.index(name) if name in fewer else next(rest) for name in targets]
    return [] if order == sorted(order) else order


def squeezed(layout: Layout, shape: PartialShape, target: Layout) -> tuple[Layout, PartialShape]:
    """Return layout and shape without the dimensions that the target lacks, if it has fewer dimensions.

    Raises GraphError if the target has dimensions of other names, or one of the layouts is not fully named.
    """
    if layout.rank is None or target.rank is None or layout.rank <= target.rank:
        return layout, shape
    names = layout.names()
    for each in (layout, target):
        if None in each.names():
            raise GraphError(f"layout {layout} cannot be converted to {target}: {each} needs names for all dimensions")
    unknown = set(target.names()) - set(names)
    if unknown:
        raise GraphError(f"layout {layout} cannot be converted to {target}: it has no {_joined(unknown)}")
    if not layout.fits(shape):
        raise GraphError(f"layout {layout} of the model's input does not fit its shape {shape}")
    kept = [index for index, name in enumerate(names) if target.has_name(str(name))]
    dimensions = PartialShape([shape[index] for index in kept]) if shape.has_rank else shape
    return Layout.of_names(names[index] for index in kept), dimensions


def added_dimensions(layout: Layout, target: Layout) -> list[str]:
    """Return the names that only the target has, if it has more dimensions.

    Raises GraphError if the target lacks names of the layout, or one of them is not fully named.
    """
    if layout.rank is None or target.rank is None or layout.rank >= target.rank:
        return []
    names = [str(name) for name in target.names() if name]
    if len(names) < target.rank or not set(layout.names()) <= set(names):
        raise GraphError(f"layout {layout} cannot be converted to {target}, which needs all its dimensions by name")
    return [name for name in names if not layout.has_name(name)]


def _joined(names: set[str | None]) -> str:
    return ", ".join(sorted(map(str, names)))
