"""Gather and scatter operations, and operations on regions and boxes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.onnx.emitters.registry import emitter
from hetero.frontend.onnx.node_writer import NodeWriter, NotInOnnx

_REDUCTIONS = {"none": "none", "sum": "add", "sub": "add", "prod": "mul", "max": "max", "min": "min"}


@emitter(ops.Gather)
def gather(node: NodeWriter) -> str:
    (axis,), indices = node.numbers(2), _indices(node, 1)
    if not node.op.batch_dims:
        return node.add("Gather", node.input(0), indices, axis=axis)
    rank, count = node.rank(0), node.rank(1)
    batch, axis = node.op.batch_dims % count if node.op.batch_dims < 0 else node.op.batch_dims, axis % rank
    # GatherND takes the axis after the batch axes, and returns the indices' axes before the others of the data.
    others = [other for other in range(batch, rank) if other != axis]
    data = node.input(0) if axis == batch else node.transpose(node.input(0), [*range(batch), axis, *others])
    result = node.add("GatherND", data, node.add("Unsqueeze", indices, [-1]), batch_dims=batch)
    if axis == batch:
        return result
    gathered = list(range(batch, count))
    moved = list(range(count, count + axis - batch))
    return node.transpose(
        result, [*range(batch), *moved, *gathered, *range(count + axis - batch, count + rank - batch - 1)]
    )


def _indices(node: NodeWriter, index: int) -> str:
    """Return indices as i32 or i64."""
    kind = node.kind(index)
    return node.input(index) if kind in (Type.i32, Type.i64) else node.cast(node.input(index), Type.i64)


@emitter(ops.GatherElements)
def gather_elements(node: NodeWriter) -> str:
    return node.add("GatherElements", node.input(0), _indices(node, 1), axis=node.op.axis)


@emitter(ops.GatherND)
def gather_nd(node: NodeWriter) -> str:
    return node.add("GatherND", node.input(0), node.converted(1, Type.i64), batch_dims=node.op.batch_dims)


@emitter(ops.GatherNDV5)
def gather_nd_5(node: NodeWriter) -> str:
    """The batch axes of the result are joined to one."""
    result = node.add("GatherND", node.input(0), node.converted(1, Type.i64), batch_dims=node.op.batch_dims)
    shape = node.op.get_output_partial_shape(0)
    if node.op.batch_dims < 2:
        return result
    if not shape.has_rank or any(length.is_dynamic for length in shape[1:]):
        raise NotInOnnx("batch_dims and a result of dynamic shape")
    return node.add("Reshape", result, [-1, *(length.get_length() for length in shape[1:])])


@emitter(ops.ScatterElementsUpdate, ops.ScatterElementsUpdateV3)
def scatter_elements(node: NodeWriter) -> str:
    (axis,), reduction = node.numbers(3), getattr(node.op, "reduction", "none")
    if reduction == "mean" or (reduction != "none" and not node.op.use_init_val):
        raise NotInOnnx(f"reduction {reduction} and use_init_val {node.op.use_init_val}".lower())
    return node.add(
        "ScatterElements", node.input(0), _indices(node, 1), node.input(2), axis=axis, reduction=_REDUCTIONS[reduction]
    )


@emitter(ops.ScatterNDUpdate)
def scatter_nd(node: NodeWriter) -> str:
    reduction, updates = node.op.reduction, node.input(2)
    if reduction == "sub":
        updates = node.add("Neg", updates)
    indices = node.converted(1, Type.i64)
    return node.add("ScatterND", node.input(0), indices, updates, reduction=_REDUCTIONS[reduction])


@emitter(ops.ScatterUpdate)
def scatter_update(node: NodeWriter) -> str:
    """ScatterND along the first axis; another axis is moved to the front."""
    rank, count = node.rank(0), node.rank(1)
    (axis,) = node.axes(3, rank)
    data, updates = node.input(0), node.input(2)
    order = [axis, *(other for other in range(rank) if other != axis)]
    if axis:
        data = node.transpose(data, order)
        updates = node.transpose(
            updates, [*range(axis, axis + count), *range(axis), *range(axis + count, rank + count - 1)]
        )
    indices = node.converted(1, Type.i64)
    result = node.add("ScatterND", data, node.add("Unsqueeze", indices, [-1]), updates)
    return node.transpose(result, np.argsort(order).tolist()) if axis else result


@emitter(ops.EmbeddingBagPacked, ops.EmbeddingBagPackedSum)
def embedding_bag(node: NodeWriter) -> str:
    rows = node.add("Gather", node.input(0), _indices(node, 1))
    weights = node.optional("per_sample_weights")
    if weights:
        rows = node.add("Mul", rows, node.add("Unsqueeze", weights, list(range(2, node.rank(0) + 1))))
    name = "ReduceMean" if getattr(node.op, "reduction", "sum") == "mean" else "ReduceSum"
    return node.add(name, rows, [1], keepdims=0)


@emitter(ops.ROIAlign, ops.ROIAlignLargestTerm)
def roi_align(node: NodeWriter) -> str:
    op = node.op
    modes = {"asymmetric": "output_half_pixel", "half_pixel_for_nn": "half_pixel", "half_pixel": "half_pixel"}
    # half_pixel adds 0.5 to coordinates before the scale.
    regions = node.add("Add", node.input(1), node.number(0.5)) if op.aligned_mode == "half_pixel" else node.input(1)
    if type(op) is ops.ROIAlign and op.mode == "max":
        raise NotInOnnx("mode max")
    return node.add(
        "RoiAlign", node.input(0), regions, node.converted(2, Type.i64), output_height=op.pooled_h,
        output_width=op.pooled_w, sampling_ratio=op.sampling_ratio, spatial_scale=op.spatial_scale, mode=op.mode,
        coordinate_transformation_mode=modes[op.aligned_mode],
    )  # fmt: skip


@emitter(ops.ROIPooling)
def roi_pooling(node: NodeWriter) -> str:
    op = node.op
    if op.method != "max":
        raise NotInOnnx(f"method {op.method}")
    return node.add("MaxRoiPool", *node.inputs, pooled_shape=op.output_roi, spatial_scale=op.spatial_scale)


@emitter(ops.NonMaxSuppression)
def non_max_suppression(node: NodeWriter) -> Sequence[str]:
    op = node.op
    if op.has_input("soft_nms_sigma") and np.any(node.known(5)):
        raise NotInOnnx("soft_nms_sigma")
    limits = [
        node.add("Reshape", node.converted(index, kind), [1]) if op.get_input_size() > index else None
        for index, kind in ((2, Type.i64), (3, Type.f32), (4, Type.f32))
    ]
    indices = node.add(
        "NonMaxSuppression", node.converted(0, Type.f32), node.converted(1, Type.f32), *limits,
        center_point_box=int(op.box_encoding == "center"),
    )  # fmt: skip
    scores = node.add("GatherND", node.input(1), indices)
    if op.sort_result_descending:
        scores, order = node.add_outputs(2, "TopK", scores, node.add("Shape", scores))
        indices = node.add("Gather", indices, order)
    kind = op.get_output_element_type(1)
    batch_and_class = node.cast(node.add("Slice", indices, [0], [2], [1]), kind)
    scores = node.cast(node.add("Unsqueeze", scores, [-1]), kind, node.kind(1))
    selected = node.add("Concat", batch_and_class, scores, axis=-1)
    count = node.lengths(indices, [0])
    return [node.cast(indices, op.output_type, Type.i64), selected, node.cast(count, op.output_type, Type.i64)]
