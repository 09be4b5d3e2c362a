// Decode anchors for each cell of a feature map, and write the boxes that are kept. decode_box comes from
// box_decoding.cl. Boxes and scores are [images][cells][anchors].

// Offsets are [images][anchors * 4][cells], scores [images][all_scores][cells], used from first_score on. `info` holds
// height, width and scales of each image, or of all if image_step is 0. `swapped`: x and y of anchors are swapped.
// `shift` is subtracted from far corners, `margin` from the image size to which boxes are clipped. `large` is 0 for
// boxes that are too small; with `zeroed` their scores are 0.
kernel void decode_anchors(global const ANCHOR *restrict anchors, global const OFFSET *restrict offsets,
                           global const SCORE *restrict scores, global const INFO *restrict info,
                           global VALUE *restrict boxes, global SCORE_VALUE *restrict found_scores,
                           global int *restrict large, const int cells, const int anchor_count, const int all_scores,
                           const int first_score, const int image_step, const int info_count, const int swapped,
                           const int clip, const int zeroed, const int scaled, const VALUE position_scale,
                           const VALUE side_scale, const VALUE border, const VALUE shift, const VALUE margin,
                           const VALUE largest, const VALUE smallest, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    const int anchor = item % anchor_count, cell = item / anchor_count % cells, image = item / anchor_count / cells;
    info += image * image_step;
    VALUE lengths[2] = {INFO_LOAD(info, swapped ? 0 : 1), INFO_LOAD(info, swapped ? 1 : 0)};
    VALUE box[4], deltas[4];
    for (int axis = 0; axis < 4; axis++) {
        const VALUE position = ANCHOR_LOAD(anchors, ((long)cell * anchor_count + anchor) * 4 + axis);
        box[axis] = swapped ? clipped(position, lengths[axis % 2]) : position;
        const VALUE offset = OFFSET_LOAD(offsets, ((long)(image * anchor_count + anchor) * 4 + axis) * cells + cell);
        deltas[axis] = offset / (axis < 2 ? position_scale : side_scale);
    }
    decode_box(box, deltas, border, largest);
    bool is_large = true;
    for (int axis = 0; axis < 4; axis++) {
        box[axis] -= axis < 2 ? 0 : shift;
        box[axis] = clip ? clipped(box[axis], lengths[axis % 2] - margin) : box[axis];
        boxes[(long)item * 4 + axis] = box[axis];
    }
    for (int axis = 0; axis < 2; axis++) {
        const VALUE scale = scaled ? INFO_LOAD(info, axis ? 2 : info_count - 1) : 1;
        is_large = is_large && box[axis + 2] - box[axis] + border >= smallest * scale;
    }
    const SCORE_VALUE score = SCORE_LOAD(scores, ((long)image * all_scores + first_score + anchor) * cells + cell);
    found_scores[item] = zeroed && !is_large ? 0 : score;
    large[item] = is_large;
}

// Suppress candidates, in sorted order, that are too small.
kernel void mark_small(global const int *restrict order, global const int *restrict large,
                       global int *restrict suppressed, const int length, const int count)
{
    const int item = get_global_id(0);
    if (item < count && !large[item / length * length + order[item]])
        suppressed[item] = 1;
}

// Write (image, corners) of kept boxes [images][max_kept], relative to the image if `normalized`, and their scores. A
// row with image -1 ends the boxes of an image; the rest is 0.
kernel void write_regions(global const int *restrict kept, global const VALUE *restrict boxes,
                          global const SCORE_VALUE *restrict scores, global const INFO *restrict info,
                          global OUT *restrict rows,
#if HAS_SCORES
                          global OUT *restrict values,
#endif
                          const int length, const int max_kept, const int swapped, const int clip, const int normalized,
                          const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    const long position = (long)item * 5;
    const int number = kept[item], image = item / max_kept;
    const bool is_first_left = number < 0 && (item % max_kept == 0 || kept[item - 1] >= 0);
    const long box = (long)image * length + max(number, 0);
    OUT_STORE((VALUE)(number < 0 ? -is_first_left : image), position, rows);
    for (int axis = 0; axis < 4; axis++) {
        const VALUE limit = INFO_LOAD(info, (axis % 2 == 0) != (swapped != 0));
        VALUE corner = number < 0 ? 0 : boxes[box * 4 + axis];
        corner = clip && number >= 0 ? clipped(corner, limit) : corner;
        OUT_STORE(normalized && number >= 0 ? corner / limit : corner, position + 1 + axis, rows);
    }
#if HAS_SCORES
    OUT_STORE(number < 0 ? (SCORE_VALUE)0 : scores[box], item, values);
#endif
}

// Write corners and scores of kept boxes to consecutive rows, or with `filled` at their own positions with zeros
// between.
kernel void write_boxes(global const int *restrict kept, global const int *restrict before,
                        global const VALUE *restrict boxes, global const SCORE_VALUE *restrict scores,
                        global OUT *restrict rows, global OUT *restrict values, const int length, const int max_kept,
                        const int filled, const int count)
{
    const int item = get_global_id(0);
    if (item >= count || (kept[item] < 0 && !filled))
        return;
    const bool is_box = kept[item] >= 0;
    const long box = (long)(item / max_kept) * length + max(kept[item], 0), position = filled ? item : before[item];
    for (int axis = 0; axis < 4; axis++)
        OUT_STORE(is_box ? boxes[box * 4 + axis] : (VALUE)0, position * 4 + axis, rows);
    OUT_STORE(is_box ? scores[box] : (SCORE_VALUE)0, position, values);
}
