"""The groups of convolutions: filters of all formats in the shape that GroupConvolution takes."""

from __future__ import annotations

from hetero import ops
from hetero.core.shape import Dimension
from hetero.frontend.translation.values import int64, rank_of, reshape
from hetero.graph import Output
from hetero.system.errors import FrontendError


def split_groups(filters: Output, groups: int) -> Output:
    """Reshape filters ``[O, I / groups, …]`` to ``[groups, O / groups, I / groups, …]``.

    Those of a transposed convolution, ``[I, O / groups, …]``, likewise. Raises FrontendError if the first dimension is
    not a multiple of the groups.
    """
    shape = filters.partial_shape
    count = shape[0]
    if groups < 1 or (count.is_static and count.get_length() % groups):
        raise FrontendError(f"filters of shape {shape} cannot be split into {groups} groups")
    if shape.is_static:
        return reshape(filters, (groups, count.get_length() // groups, *filters.shape[1:]))
    others = ops.Slice(ops.ShapeOf(filters), int64([1]), int64([rank_of(filters)]), int64([1]))
    return ops.Reshape(filters, ops.Concat([int64([groups, -1]), others], 0), False).output(0)


def split_groups_of_channels(filters: Output, channels: Dimension) -> Output:
    """Split filters ``[O, I / groups, …]`` into as many groups as the channels of the data, I, are times theirs.

    Returns the filters unchanged for one group, also if a number of channels is unknown. Raises FrontendError if the
    channels of the data are not a multiple of those of the filters.
    """
    own = filters.partial_shape[1]
    if channels.is_dynamic or own.is_dynamic or channels == own:
        return filters
    groups, remainder = divmod(channels.get_length(), own.get_length() or 1)
    if remainder or not groups:
        raise FrontendError(f"filters {filters.partial_shape} do not divide {channels} channels into groups")
    return split_groups(filters, groups)
