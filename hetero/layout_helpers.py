"""Functions on layouts, under OpenVINO's names."""

from hetero.core.layout import Layout
from hetero.graph.layouts import get_layout, set_layout
from hetero.system.errors import ArgumentTypeError

__all__ = [
    "batch_idx", "channels_idx", "depth_idx", "get_layout", "has_batch", "has_channels", "has_depth", "has_height",
    "has_width", "height_idx", "set_layout", "width_idx",
]  # fmt: skip


def has_batch(layout: Layout) -> bool:
    return _checked(layout).has_name("N")


def batch_idx(layout: Layout) -> int:
    return _checked(layout).get_index_by_name("N")


def has_channels(layout: Layout) -> bool:
    return _checked(layout).has_name("C")


def channels_idx(layout: Layout) -> int:
    return _checked(layout).get_index_by_name("C")


def has_depth(layout: Layout) -> bool:
    return _checked(layout).has_name("D")


def depth_idx(layout: Layout) -> int:
    return _checked(layout).get_index_by_name("D")


def has_height(layout: Layout) -> bool:
    return _checked(layout).has_name("H")


def height_idx(layout: Layout) -> int:
    return _checked(layout).get_index_by_name("H")


def has_width(layout: Layout) -> bool:
    return _checked(layout).has_name("W")


def width_idx(layout: Layout) -> int:
    return _checked(layout).get_index_by_name("W")


def _checked(layout: Layout) -> Layout:
    if not isinstance(layout, Layout):
        raise ArgumentTypeError(f"a Layout is needed, not {layout!r}")
    return layout
