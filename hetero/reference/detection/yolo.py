"""RegionYolo and ReorgYolo."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.reference.registry import Array, evaluates


@evaluates(ops.RegionYolo, in_f32=True)
def region_yolo(node: ops.RegionYolo, data: Array) -> Array:
    images, channels, height, width = data.shape
    used = node.boxes * node.box_size
    if channels < used:
        raise ValueError(f"data has {channels} channels, but {used} are needed")
    result = data.copy() if node.do_softmax else data[:, :used].copy()
    boxes = result[:, :used].reshape(images, node.boxes, node.box_size, height, width)
    logistic = [slice(0, 2), slice(node.coords, node.coords + 1 if node.do_softmax else None)]
    for part in logistic:
        boxes[:, :, part] = 1 / (1 + np.exp(-boxes[:, :, part]))
    if node.do_softmax:
        scores = boxes[:, :, node.coords + 1 :]
        powers = np.exp(scores - scores.max(axis=2, keepdims=True))
        boxes[:, :, node.coords + 1 :] = powers / powers.sum(axis=2, keepdims=True)
        result[:, :used] = boxes.reshape(images, used, height, width)
        begin, end = node.axis % 4, node.end_axis % 4
        if begin < end:
            shape = data.shape
            return result.reshape(*shape[:begin], int(np.prod(shape[begin : end + 1])), *shape[end + 1 :])
        return result
    return boxes.reshape(images, used, height, width)


@evaluates(ops.ReorgYolo)
def reorg_yolo(node: ops.ReorgYolo, data: Array) -> Array:
    (batch, channels, height, width), stride = data.shape, node.stride[0]
    blocks = data.reshape(batch, channels // stride**2, height, stride, width, stride)
    moved = blocks.transpose(0, 3, 5, 1, 2, 4)
    return moved.reshape(batch, channels * stride**2, height // stride, width // stride)
