"""PriorBox and PriorBoxClustered: the boxes of one cell, moved to every cell."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.reference.registry import Array, evaluates


@evaluates(ops.PriorBox, ops.PriorBoxV1)
def prior_box(node: ops.PriorBoxV1, size: Array, image: Array) -> Array:
    step = node.step
    if not node.scale_all_sizes:
        step = image[0] / size[0] if step == -1 else step * image[0]
    steps, offset = (image / size, 0.5) if step == 0 else (np.array([step, step]), node.offset)
    boxes = _boxes(node, size, image, steps, offset)
    # Boxes of fixed sizes are always clipped to the image.
    fixed = len(node.dense_boxes())
    np.clip(boxes[..., :fixed, :], 0, 1, out=boxes[..., :fixed, :])
    return _with_variances(node, boxes)


@evaluates(ops.PriorBoxClustered)
def prior_box_clustered(node: ops.PriorBoxClustered, size: Array, image: Array) -> Array:
    steps = np.array([node.step_h or node.step, node.step_w or node.step])
    return _with_variances(node, _boxes(node, size, image, steps if steps.any() else image / size, node.offset))


def _boxes(
    node: ops.PriorBoxV1 | ops.PriorBoxClustered, size: Array, image: Array, steps: Array, offset: float
) -> Array:
    """Return the boxes ``[height, width, boxes per cell, 4]`` as fractions of the image."""
    cell_boxes = node.cell_boxes(int(image[0]))
    y, x = ((np.arange(count, dtype=np.float32) + np.float32(offset)) * np.float32(step)
            for count, step in zip(size, steps))  # fmt: skip
    boxes = np.empty((y.size, x.size, len(cell_boxes), 4), np.float32)
    x, y = x[:, None] + cell_boxes[:, 0], y[:, None, None] + cell_boxes[:, 1]
    boxes[..., 0::2] = np.stack([x - cell_boxes[:, 2], x + cell_boxes[:, 2]], axis=-1)
    boxes[..., 1::2] = np.stack([y - cell_boxes[:, 3], y + cell_boxes[:, 3]], axis=-1)
    boxes *= (1 / image[[1, 0, 1, 0]]).astype(np.float32)
    return boxes


def _with_variances(node: ops.PriorBoxV1 | ops.PriorBoxClustered, boxes: Array) -> Array:
    if node.clip:
        np.clip(boxes, 0, 1, out=boxes)
    variances = np.broadcast_to(np.float32(node.variance or 0.1), boxes.shape)
    return np.stack([boxes.reshape(-1), variances.reshape(-1)])
