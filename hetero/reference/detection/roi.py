"""Region of interest (ROI) pooling, one region after the other, vectorized over its channels.

The formulas are those of OpenVINO's ROIPooling-2, ROIAlign-9, ROIAlignRotated-15, PSROIPooling-1 and
DeformablePSROIPooling-1. Regions outside of the image, and bins without an element, give zeros.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from hetero import ops
from hetero.reference.images.grid_sample import bilinear
from hetero.reference.registry import Array, evaluates


@evaluates(ops.ROIPooling, in_f32=True)
def roi_pooling(node: ops.ROIPooling, data: Array, regions: Array) -> Array:
    result = np.zeros((len(regions), data.shape[1], *node.output_roi), data.dtype)
    pool = _max_pool_bins if node.method == "max" else _sample_region
    for target, image, box in _regions_in(data, regions, result):
        pool(node, image, box, target)
    return result


def _max_pool_bins(node: ops.ROIPooling, image: Array, box: Array, target: Array) -> None:
    left, top, right, bottom = _rounded(np.multiply(box, np.float32(node.spatial_scale))).astype(np.int64)
    rows = _parts(top, max(bottom - top + 1, 1), node.output_roi[0], image.shape[1])
    columns = _parts(left, max(right - left + 1, 1), node.output_roi[1], image.shape[2])
    for row, (first, last) in enumerate(rows):
        if first < last:
            band = image[:, first:last].max(1)
            for column, (begin, end) in enumerate(columns):
                if begin < end:
                    band[:, begin:end].max(1, out=target[:, row, column])


def _parts(start: int, length: int, count: int, limit: int) -> list[tuple[int, int]]:
    """Divide ``length`` elements from ``start`` on into ``count`` parts; return begin and end of each part."""
    index = np.arange(count, dtype=np.float32)
    size = np.float32(length) / np.float32(count)
    begin, end = np.floor(index * size).astype(np.int64), np.ceil((index + 1) * size).astype(np.int64)
    return list(zip(np.clip(begin + start, 0, limit).tolist(), np.clip(end + start, 0, limit).tolist()))


def _sample_region(node: ops.ROIPooling, image: Array, box: Array, target: Array) -> None:
    """Sample a region, given as fractions of the image, at equally spaced points from edge to edge."""
    height, width = image.shape[1:]
    left, top, right, bottom = box
    y = _linspace(top, bottom, node.output_roi[0], height)[:, None]
    x = _linspace(left, right, node.output_roi[1], width)
    _sample(image, y, x, _within(image, y, x), target)


def _linspace(first: np.float32, last: np.float32, count: int, length: int) -> Array:
    """Return ``count`` equally spaced coordinates on an axis of ``length``; the center if ``count`` is 1."""
    if count == 1:
        return np.array([(first + last) * np.float32(length - 1) / 2])
    points = np.arange(count, dtype=first.dtype) * ((last - first) * (length - 1) / (count - 1)) + first * (length - 1)
    points[-1] = last * (length - 1)
    return points


def _within(image: Array, y: Array, x: Array) -> Array:
    height, width = image.shape[1:]
    return (y >= 0) & (y <= height - 1) & (x >= 0) & (x <= width - 1)


def _sample(image: Array, y: Array, x: Array, inside: Array, target: Array, combine: np.ufunc = np.add) -> None:
    """Write bilinear samples of an image ``[C, H, W]`` to ``target``, 0 for points that are not inside."""
    height, width = image.shape[1:]
    y, x = np.where(inside, np.clip(y, 0, height - 1), 0), np.where(inside, np.clip(x, 0, width - 1), 0)
    planes = image.reshape(len(image), height * width)
    np.multiply(bilinear(planes, (height, width), y, x, combine=combine), inside, out=target)


@evaluates(ops.ROIAlign, ops.ROIAlignV3, ops.ROIAlignLargestTerm, in_f32=True)
def roi_align(node: ops.ROIAlignV3, data: Array, regions: Array, images: Array) -> Array:
    aligned = node.aligned_mode != "asymmetric"
    one, half = regions.dtype.type(1), regions.dtype.type(0.5)
    boxes = (regions + half if node.aligned_mode == "half_pixel" else regions) * regions.dtype.type(node.spatial_scale)
    boxes = boxes - half if aligned else boxes
    result = np.zeros((len(regions), data.shape[1], node.pooled_h, node.pooled_w), data.dtype)
    mode = "term" if isinstance(node, ops.ROIAlignLargestTerm) else node.mode
    for target, image, box in zip(result, _checked_images(images, data), boxes):
        sides = box[2:] - box[:2]
        pool_region(
            data[image], box[:2], sides if aligned else np.maximum(sides, one), node.sampling_ratio, mode, target
        )
    return result


def pool_region(image: Array, corner: Array, sides: Array, ratio: int, mode: str, target: Array) -> None:
    """Write the mean ("avg") or maximum of the samples in each bin of a region to ``target [channels, rows, columns]``.

    ``corner`` and ``sides`` are (x, y) in elements of the image. ``ratio``: samples per bin and axis, 0 for automatic.
    """
    (left, top), (width, height) = corner, sides
    y = top + _in_bins(height, target.shape[1], ratio)[:, None, :, None]
    x = left + _in_bins(width, target.shape[2], ratio)[:, None]
    _pool_bins(image, y, x, mode, target)


@evaluates(ops.ROIAlignRotated, in_f32=True)
def roi_align_rotated(node: ops.ROIAlignRotated, data: Array, regions: Array, images: Array) -> Array:
    boxes = regions[:, :4] * regions.dtype.type(node.spatial_scale)
    angles = -regions[:, 4] if node.clockwise_mode else regions[:, 4]
    result = np.zeros((len(regions), data.shape[1], node.pooled_h, node.pooled_w), data.dtype)
    for target, image, (x, y, width, height), angle in zip(result, _checked_images(images, data), boxes, angles):
        down = _in_bins(height, node.pooled_h, node.sampling_ratio)[:, None, :, None] - height / 2
        along = _in_bins(width, node.pooled_w, node.sampling_ratio)[:, None] - width / 2
        rows = down * np.cos(angle) - along * np.sin(angle) + y - regions.dtype.type(0.5)
        columns = down * np.sin(angle) + along * np.cos(angle) + x - regions.dtype.type(0.5)
        _pool_bins(data[image], rows, columns, "avg", target)
    return result


def _checked_images(images: Array, data: Array) -> Array:
    """Return the image indices. Raises ValueError if one is not in the batch."""
    for number in images[(images < 0) | (images >= len(data))]:
        raise ValueError(f"a region lies in image {number}, but there are {len(data)}")
    return images


def _in_bins(length: np.float32, count: int, ratio: int) -> Array:
    """Return the coordinates of the samples in each bin on an axis of a region, ``[bins, samples]``."""
    size = length / length.dtype.type(max(count, 1))
    samples = ratio or max(int(np.ceil(size)), 0)
    steps = (np.arange(samples, dtype=size.dtype) + size.dtype.type(0.5)) * (size / size.dtype.type(max(samples, 1)))
    return np.arange(count, dtype=size.dtype)[:, None] * size + steps


def _pool_bins(image: Array, y: Array, x: Array, mode: str, target: Array) -> None:
    """Pool samples at ``[rows, columns, samples…]``; a sample more than 1 element outside of the image is 0.

    ``mode``: "avg", "max", or "term" for the maximum of the weighted neighbors instead of their sums.
    """
    height, width = image.shape[1:]
    y, x = np.broadcast_arrays(y, x)
    if not y.size:
        return
    inside = (y >= -1) & (y <= height) & (x >= -1) & (x <= width)
    samples = np.empty((len(image), *y.shape), image.dtype)
    _sample(image, y, x, inside, samples, np.maximum if mode == "term" else np.add)
    if mode == "avg":
        samples.mean((-2, -1), out=target)
    elif mode == "max":
        samples.max((-2, -1), out=target, initial=0)  # as in OpenVINO
    else:
        samples.max((-2, -1), out=target)


@evaluates(ops.PSROIPooling, in_f32=True)
def psroi_pooling(node: ops.PSROIPooling, data: Array, regions: Array) -> Array:
    result = np.zeros((len(regions), node.output_dim, node.group_size, node.group_size), data.dtype)
    pool = _mean_pool_bins if node.mode == "average" else _mean_of_samples
    for target, image, box in _regions_in(data, regions, result):
        pool(node, image, box, target)
    return result


def _mean_pool_bins(node: ops.PSROIPooling, image: Array, box: Array, target: Array) -> None:
    size, scale = node.group_size, np.float32(node.spatial_scale)
    start, end = _rounded(box[:2]) * scale, (_rounded(box[2:]) + 1) * scale
    index = np.arange(size, dtype=np.float32)
    left, top = np.floor(start[:, None] + index * ((end - start) / size)[:, None]).astype(np.int64)
    right, bottom = np.ceil(start[:, None] + (index + 1) * ((end - start) / size)[:, None]).astype(np.int64)
    height, width = image.shape[1:]
    parts = image.reshape(node.output_dim, size, size, height, width)
    rows = list(zip(np.clip(top, 0, height), np.clip(bottom, 0, height)))
    columns = list(zip(np.clip(left, 0, width), np.clip(right, 0, width)))
    for row, (first, last) in enumerate(rows):
        for column, (begin, stop) in enumerate(columns):
            if first < last and begin < stop:
                parts[:, row, column, first:last, begin:stop].mean((1, 2), out=target[:, row, column])


def _mean_of_samples(node: ops.PSROIPooling, image: Array, box: Array, target: Array) -> None:
    height, width = image.shape[1:]
    left, top, right, bottom = np.multiply(box, np.float32(node.spatial_scale))
    bin_height, bin_width = (bottom - top) / node.spatial_bins_y, (right - left) / node.spatial_bins_x
    samples = np.empty_like(target)
    for number in range(node.spatial_bins_y * node.spatial_bins_x):
        row, column = divmod(number, node.spatial_bins_x)
        y = _linspace(top + row * bin_height, top + (row + 1) * bin_height, node.group_size, height)[:, None]
        x = _linspace(left + column * bin_width, left + (column + 1) * bin_width, node.group_size, width)
        channels = image[number * node.output_dim : (number + 1) * node.output_dim]
        _sample(channels, y, x, _within(image, y, x), samples)
        target += samples
    target /= node.spatial_bins_y * node.spatial_bins_x


@evaluates(ops.DeformablePSROIPooling, in_f32=True)
def deformable_psroi_pooling(
    node: ops.DeformablePSROIPooling, data: Array, regions: Array, offsets: Array | None = None
) -> Array:
    size = node.group_size
    result = np.zeros((len(regions), node.output_dim, size, size), data.dtype)
    height, width = data.shape[2:]
    # Each bin of each output channel reads its own channel of the image.
    starts = np.arange(result[:1].size).reshape(node.output_dim, size, size, 1, 1) * (height * width)
    shifts = np.zeros((len(regions), 2, 1, 1, 1), data.dtype) if offsets is None else _shifts(node, offsets)
    bins = np.arange(size, dtype=data.dtype)
    for target, image, box, (shift_x, shift_y) in _regions_in(data, regions, result, shifts):
        scale = data.dtype.type(node.spatial_scale)
        start, end = _rounded(box[:2]) * scale - 0.5, (_rounded(box[2:]) + 1) * scale - 0.5
        lengths = np.maximum(end - start, data.dtype.type(0.1))
        bin_width, bin_height = lengths / size
        x = start[0] + bins * bin_width + shift_x * lengths[0]
        y = start[1] + bins[:, None] * bin_height + shift_y * lengths[1]
        step_x, step_y = bin_width / node.spatial_bins_x, bin_height / node.spatial_bins_y
        x = x[..., None, None] + np.arange(node.spatial_bins_x, dtype=data.dtype) * step_x
        y = y[..., None, None] + np.arange(node.spatial_bins_y, dtype=data.dtype)[:, None] * step_y
        inside = (x >= -0.5) & (x <= width - 0.5) & (y >= -0.5) & (y <= height - 0.5)
        x, y = np.clip(x, 0, width - 1), np.clip(y, 0, height - 1)
        samples = bilinear(image.reshape(-1), (height, width), y, x, starts) * inside
        target[:] = samples.sum((-2, -1)) / np.maximum(inside.sum((-2, -1)), 1)
    return result


def _shifts(node: ops.DeformablePSROIPooling, offsets: Array) -> Array:
    """Return the x and y shift of each bin as fractions of its region, ``[R, 2, output_dim, rows, columns]``."""
    part = np.arange(node.group_size) * node.part_size // node.group_size
    classes = offsets.shape[1] // 2
    class_of_channel = np.arange(node.output_dim) // (node.output_dim // classes)
    by_channel = offsets.reshape(len(offsets), classes, 2, *offsets.shape[2:])[:, class_of_channel]
    return by_channel.swapaxes(1, 2)[..., part[:, None], part] * offsets.dtype.type(node.trans_std)


def _regions_in(data: Array, regions: Array, *others: Array) -> Iterator[tuple[Array, ...]]:
    """Yield for each region a row of the first of ``others``, its image, its box, and the rows of the other ``others``.

    Regions with a negative image index are skipped. Raises ValueError if the index is too large.
    """
    for region, target, *rows in zip(regions, *others):
        number = int(region[0])
        if number >= len(data):
            raise ValueError(f"a region lies in image {number}, but there are {len(data)}")
        if number >= 0:
            yield target, data[number], region[1:], *rows


def _rounded(values: Array) -> Array:
    """Round to the nearest integer, halves away from 0."""
    return np.copysign(np.floor(np.abs(values) + 0.5), values)
