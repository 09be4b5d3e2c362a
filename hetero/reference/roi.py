"""Pooling of regions of interest, one region after the other, all channels of it at once.

The formulas are those of OpenVINO's ROIPooling-2, ROIAlign-9, ROIAlignRotated-15, PSROIPooling-1 and
DeformablePSROIPooling-1; regions outside of the image, and parts without an element, give zeros.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from hetero import ops
from hetero.graph import Node
from hetero.reference.bilinear import bilinear
from hetero.reference.registry import evaluates, in_single


@evaluates(ops.ROIPooling)
@in_single
def roi_pooling(node: Node, data: np.ndarray, regions: np.ndarray) -> np.ndarray:
    result = np.zeros((len(regions), data.shape[1], *node.output_roi), data.dtype)
    pool = _largest_of_parts if node.method == "max" else _spread_samples
    for target, image, box in _regions_in(data, regions, result):
        pool(node, image, box, target)
    return result


def _largest_of_parts(node: Node, image: np.ndarray, box: np.ndarray, target: np.ndarray) -> None:
    left, top, right, bottom = _rounded(box * np.float32(node.spatial_scale)).astype(np.int64)
    rows = _parts(top, max(bottom - top + 1, 1), node.output_roi[0], image.shape[1])
    columns = _parts(left, max(right - left + 1, 1), node.output_roi[1], image.shape[2])
    for row, (first, last) in enumerate(rows):
        if first < last:
            band = image[:, first:last].max(1)
            for column, (begin, end) in enumerate(columns):
                if begin < end:
                    band[:, begin:end].max(1, out=target[:, row, column])


def _parts(start: int, length: int, count: int, limit: int) -> list[tuple[int, int]]:
    """Begin and end of each part of a stretch of an axis, within its limit."""
    index = np.arange(count, dtype=np.float32)
    size = np.float32(length) / np.float32(count)
    begin, end = np.floor(index * size).astype(np.int64), np.ceil((index + 1) * size).astype(np.int64)
    return list(zip(np.clip(begin + start, 0, limit).tolist(), np.clip(end + start, 0, limit).tolist()))


def _spread_samples(node: Node, image: np.ndarray, box: np.ndarray, target: np.ndarray) -> None:
    """Samples at equal distances from edge to edge of a region in parts of the image; in the middle where one is."""
    height, width = image.shape[1:]
    left, top, right, bottom = box
    y = _spread(top, bottom, node.output_roi[0], height)[:, None]
    x = _spread(left, right, node.output_roi[1], width)
    _sample(image, y, x, _within(image, y, x), target)


def _spread(first: np.float32, last: np.float32, count: int, length: int) -> np.ndarray:
    if count == 1:
        return np.array([(first + last) * np.float32(length - 1) / 2])
    places = np.arange(count, dtype=first.dtype) * ((last - first) * (length - 1) / (count - 1)) + first * (length - 1)
    places[-1] = last * (length - 1)
    return places


def _within(image: np.ndarray, y: np.ndarray, x: np.ndarray) -> np.ndarray:
    height, width = image.shape[1:]
    return (y >= 0) & (y <= height - 1) & (x >= 0) & (x <= width - 1)


def _sample(
    image: np.ndarray,
    y: np.ndarray,
    x: np.ndarray,
    inside: np.ndarray,
    target: np.ndarray,
    combine: Callable[..., np.ndarray] = np.add,
) -> None:
    """Samples of an image ``[C, H, W]`` at points, 0 where they are not inside."""
    height, width = image.shape[1:]
    y, x = np.where(inside, np.clip(y, 0, height - 1), 0), np.where(inside, np.clip(x, 0, width - 1), 0)
    planes = image.reshape(len(image), height * width)
    np.multiply(bilinear(planes, (height, width), y, x, combine=combine), inside, out=target)


@evaluates(ops.ROIAlign, ops.ROIAlignV3, ops.ROIAlignLargestTerm)
@in_single
def roi_align(node: Node, data: np.ndarray, regions: np.ndarray, images: np.ndarray) -> np.ndarray:
    aligned = node.aligned_mode != "asymmetric"
    one, half = regions.dtype.type(1), regions.dtype.type(0.5)
    boxes = (regions + half if node.aligned_mode == "half_pixel" else regions) * regions.dtype.type(node.spatial_scale)
    boxes = boxes - half if aligned else boxes
    result = np.zeros((len(regions), data.shape[1], node.pooled_h, node.pooled_w), data.dtype)
    mode = "term" if isinstance(node, ops.ROIAlignLargestTerm) else node.mode
    for target, image, box in zip(result, _existing(images, data), boxes):
        sides = box[2:] - box[:2]
        pool_region(
            data[image], box[:2], sides if aligned else np.maximum(sides, one), node.sampling_ratio, mode, target
        )
    return result


def pool_region(
    image: np.ndarray, corner: np.ndarray, sides: np.ndarray, ratio: int, mode: str, target: np.ndarray
) -> None:
    """The means ("avg") or maxima of the samples in the bins of a region of an image, all in elements of the image.

    ``corner`` and ``sides`` are x before y, ``target`` is ``[channels, rows, columns]`` of bins.
    """
    (left, top), (width, height) = corner, sides
    y = top + _in_bins(height, target.shape[1], ratio)[:, None, :, None]
    x = left + _in_bins(width, target.shape[2], ratio)[:, None]
    _pool_bins(image, y, x, mode, target)


@evaluates(ops.ROIAlignRotated)
@in_single
def roi_align_rotated(node: Node, data: np.ndarray, regions: np.ndarray, images: np.ndarray) -> np.ndarray:
    boxes = regions[:, :4] * regions.dtype.type(node.spatial_scale)
    angles = -regions[:, 4] if node.clockwise_mode else regions[:, 4]
    result = np.zeros((len(regions), data.shape[1], node.pooled_h, node.pooled_w), data.dtype)
    for target, image, (x, y, width, height), angle in zip(result, _existing(images, data), boxes, angles):
        down = _in_bins(height, node.pooled_h, node.sampling_ratio)[:, None, :, None] - height / 2
        along = _in_bins(width, node.pooled_w, node.sampling_ratio)[:, None] - width / 2
        rows = down * np.cos(angle) - along * np.sin(angle) + y - regions.dtype.type(0.5)
        columns = down * np.sin(angle) + along * np.cos(angle) + x - regions.dtype.type(0.5)
        _pool_bins(data[image], rows, columns, "avg", target)
    return result


def _existing(images: np.ndarray, data: np.ndarray) -> np.ndarray:
    """The numbers of images. Raises ValueError where the batch has no such image."""
    for number in images[(images < 0) | (images >= len(data))]:
        raise ValueError(f"a region lies in image {number}, but there are {len(data)}")
    return images


def _in_bins(length: np.float32, count: int, ratio: int) -> np.ndarray:
    """Where the samples of each bin lie on an axis of a region, ``[bins, samples]``."""
    size = length / length.dtype.type(max(count, 1))
    samples = ratio or max(int(np.ceil(size)), 0)
    steps = (np.arange(samples, dtype=size.dtype) + size.dtype.type(0.5)) * (size / size.dtype.type(max(samples, 1)))
    return np.arange(count, dtype=size.dtype)[:, None] * size + steps


def _pool_bins(image: np.ndarray, y: np.ndarray, x: np.ndarray, mode: str, target: np.ndarray) -> None:
    """The mean or maximum of samples ``[rows, columns, samples…]``; farther than 1 from the image they are 0.

    ``mode`` "term": the largest of the weighted elements that the samples are sums of.
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


@evaluates(ops.PSROIPooling)
@in_single
def psroi_pooling(node: Node, data: np.ndarray, regions: np.ndarray) -> np.ndarray:
    result = np.zeros((len(regions), node.output_dim, node.group_size, node.group_size), data.dtype)
    pool = _means_of_parts if node.mode == "average" else _means_of_spread_samples
    for target, image, box in _regions_in(data, regions, result):
        pool(node, image, box, target)
    return result


def _means_of_parts(node: Node, image: np.ndarray, box: np.ndarray, target: np.ndarray) -> None:
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


def _means_of_spread_samples(node: Node, image: np.ndarray, box: np.ndarray, target: np.ndarray) -> None:
    height, width = image.shape[1:]
    left, top, right, bottom = box * np.float32(node.spatial_scale)
    tall, wide = (bottom - top) / node.spatial_bins_y, (right - left) / node.spatial_bins_x
    part = np.empty_like(target)
    for number in range(node.spatial_bins_y * node.spatial_bins_x):
        row, column = divmod(number, node.spatial_bins_x)
        y = _spread(top + row * tall, top + (row + 1) * tall, node.group_size, height)[:, None]
        x = _spread(left + column * wide, left + (column + 1) * wide, node.group_size, width)
        channels = image[number * node.output_dim : (number + 1) * node.output_dim]
        _sample(channels, y, x, _within(image, y, x), part)
        target += part
    target /= node.spatial_bins_y * node.spatial_bins_x


@evaluates(ops.DeformablePSROIPooling)
@in_single
def deformable_psroi_pooling(
    node: Node, data: np.ndarray, regions: np.ndarray, offsets: np.ndarray | None = None
) -> np.ndarray:
    size = node.group_size
    result = np.zeros((len(regions), node.output_dim, size, size), data.dtype)
    height, width = data.shape[2:]
    # Each part of each channel of the result is of another channel of the image.
    starts = np.arange(result[:1].size).reshape(node.output_dim, size, size, 1, 1) * (height * width)
    moves = np.zeros((len(regions), 2, 1, 1, 1), data.dtype) if offsets is None else _moves(node, offsets)
    places = np.arange(size, dtype=data.dtype)
    for target, image, box, (along, down) in _regions_in(data, regions, result, moves):
        scale = data.dtype.type(node.spatial_scale)
        start, end = _rounded(box[:2]) * scale - 0.5, (_rounded(box[2:]) + 1) * scale - 0.5
        lengths = np.maximum(end - start, data.dtype.type(0.1))
        wide, tall = lengths / size
        x = start[0] + places * wide + along * lengths[0]
        y = start[1] + places[:, None] * tall + down * lengths[1]
        x = x[..., None, None] + np.arange(node.spatial_bins_x, dtype=data.dtype) * (wide / node.spatial_bins_x)
        y = y[..., None, None] + np.arange(node.spatial_bins_y, dtype=data.dtype)[:, None] * (
            tall / node.spatial_bins_y
        )
        inside = (x >= -0.5) & (x <= width - 0.5) & (y >= -0.5) & (y <= height - 0.5)
        x, y = (np.clip(place, 0, length - 1) for place, length in ((x, width), (y, height)))
        samples = bilinear(image.reshape(-1), (height, width), y, x, starts) * inside
        target[:] = samples.sum((-2, -1)) / np.maximum(inside.sum((-2, -1)), 1)
    return result


def _moves(node: Node, offsets: np.ndarray) -> np.ndarray:
    """How far each part is moved along and down in lengths of its region, ``[R, 2, output_dim, rows, columns]``."""
    part = np.arange(node.group_size) * node.part_size // node.group_size
    classes = offsets.shape[1] // 2
    of_class = np.arange(node.output_dim) // (node.output_dim // classes)
    by_class = offsets.reshape(len(offsets), classes, 2, *offsets.shape[2:])[:, of_class]
    return by_class.swapaxes(1, 2)[..., part[:, None], part] * offsets.dtype.type(node.trans_std)


def _regions_in(data: np.ndarray, regions: np.ndarray, *others: np.ndarray) -> Iterator[tuple]:
    """For each region of an image of the batch: a row of the first of the others, the image, its box, the other rows.

    An image below 0 stands for none.
    """
    for region, target, *rows in zip(regions, *others):
        number = int(region[0])
        if number >= len(data):
            raise ValueError(f"a region lies in image {number}, but there are {len(data)}")
        if number >= 0:
            yield target, data[number], region[1:], *rows


def _rounded(values: np.ndarray) -> np.ndarray:
    """The nearest whole numbers, halves away from 0."""
    return np.copysign(np.floor(np.abs(values) + 0.5), values)
