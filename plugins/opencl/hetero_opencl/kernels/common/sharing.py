"""How work-items of a GPU share results that are each combined from many elements."""

from __future__ import annotations

from typing import NamedTuple

from hetero.core.lengths.length import about
from hetero_opencl.profiles.profile import DeviceProfile

# Work-items of a work-group, and at most of a result. Each combines _LEAST elements at least, unless the device is not
# busy then.
_GROUP, _MOST_LANES, _LEAST = 64, 256, 4
# Neighboring elements that are read together: 32 of f32 are a line of most caches.
_LINE = 32
# The least of them: 8 of f32 are the least that memory reads at once.
_SECTOR = 8
# Work-items per compute unit below which a result gets more than _LINE of them.
_BUSY = 512
# Work-groups per compute unit below which results are combined in two launches, if their work-items combine at least
# _LONG elements each; then they combine at least _SHORT. The second launch takes as long as _LONG elements.
_FILLED, _LONG, _SHORT = 2, 512, 32


class Sharing(NamedTuple):
    """Work-items of a result, and results of a work-group, both powers of two; and parts of a result.

    Each part of a result is combined by another work-group.
    """

    lanes: int
    results: int
    slices: int

    @property
    def group(self) -> int:
        return self.lanes * self.results


def share(
    profile: DeviceProfile, count: int, elements: int, is_across: bool, local_bytes: int, passes: int = 1
) -> Sharing:
    """Return how ``count`` results of ``elements`` elements each are shared.

    With ``is_across`` elements of neighboring results are neighbors, else those of the same result.
    ``local_bytes``: the local memory of a work-item. ``passes``: how often each element is read.
    """
    count, elements = about(count), about(elements)
    useful = power_of_two(-(-elements // _LEAST))
    most = profile.largest_group(_MOST_LANES, local_bytes)
    together = min(_LINE, power_of_two(count), most) if is_across else 1
    while together > _SECTOR and -(-count // together) < profile.compute_units:
        together //= 2
    lanes = min(useful, most // together, _LINE // together)
    while 2 * lanes * together <= most and lanes < elements and count * lanes < profile.compute_units * _BUSY:
        lanes *= 2
    results = max(together, min(_GROUP, most) // lanes)
    groups, wanted = -(-count // results), _FILLED * profile.compute_units
    slices = 1
    if passes * elements >= _LONG * lanes and groups < wanted:
        slices = min(-(-wanted // groups), passes * elements // (_SHORT * lanes))
    return Sharing(lanes, results, slices)


def power_of_two(number: int) -> int:
    """Return the least power of two that is not less than a number, 1 at least."""
    return 1 << max(0, number - 1).bit_length()
