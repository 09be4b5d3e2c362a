// Anchors of each cell of a feature map moved by offsets, and what is kept of them as outputs. move_box stands in a
// text of its own. Boxes and scores are [images][cells][anchors].

// Offsets are [images][anchors * 4][cells], scores [images][all_scores][cells], of which those from first_score on
// count; info is height, width and scales of each image, or of all where image_step is 0. `swapped`: x counts the rows.
// `shift` is taken from far corners, and `margin` from the lengths of the image that boxes are clipped to. Small boxes
// have a 0 in `large`, and with `zeroed` a score of 0.
kernel void move_anchors(global const ANCHOR *restrict anchors, global const OFFSET *restrict offsets,
                         global const SCORE *restrict scores, global const INFO *restrict info,
                         global VALUE *restrict boxes, global SCORE_VALUE *restrict found_scores,
                         global int *restrict large, const int cells, const int anchor_count, const int all_scores,
                         const int first_score, const int image_step, const int info_count, const int swapped,
                         const int clips, const int zeroed, const int scaled, const VALUE position_scale,
                         const VALUE side_scale, const VALUE border, const VALUE shift, const VALUE margin,
                         const VALUE largest, const VALUE smallest, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    const int anchor = item % anchor_count, cell = item / anchor_count % cells, image = item / anchor_count / cells;
    info += image * image_step;
    VALUE lengths[2] = {INFO_LOAD(info, swapped ? 0 : 1), INFO_LOAD(info, swapped ? 1 : 0)};
    VALUE box[4], by[4];
    for (int axis = 0; axis < 4; axis++) {
        const VALUE place = ANCHOR_LOAD(anchors, ((long)cell * anchor_count + anchor) * 4 + axis);
        box[axis] = swapped ? clipped(place, lengths[axis % 2]) : place;
        const VALUE offset = OFFSET_LOAD(offsets, ((long)(image * anchor_count + anchor) * 4 + axis) * cells + cell);
        by[axis] = offset / (axis < 2 ? position_scale : side_scale);
    }
    move_box(box, by, border, largest);
    bool is_large = true;
    for (int axis = 0; axis < 4; axis++) {
        box[axis] -= axis < 2 ? 0 : shift;
        box[axis] = clips ? clipped(box[axis], lengths[axis % 2] - margin) : box[axis];
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

// Candidates in an order that are too small are none.
kernel void mark_small(global const int *restrict order, global const int *restrict large, global int *restrict gone,
                       const int length, const int count)
{
    const int item = get_global_id(0);
    if (item < count && !large[item / length * length + order[item]])
        gone[item] = 1;
}

// The image and corners of each box kept [images][most], in parts of the image if it is `normalized`, and their scores.
// After the last of an image stands a -1, then 0.
kernel void write_regions(global const int *restrict kept, global const VALUE *restrict boxes,
                          global const SCORE_VALUE *restrict scores, global const INFO *restrict info,
                          global OUT *restrict rows,
#if HAS_SCORES
                          global OUT *restrict values,
#endif
                          const int length, const int most, const int swapped, const int clips, const int normalized,
                          const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    const long place = (long)item * 5;
    const int number = kept[item], image = item / most;
    const bool is_first_left = number < 0 && (item % most == 0 || kept[item - 1] >= 0);
    const long box = (long)image * length + max(number, 0);
    OUT_STORE((VALUE)(number < 0 ? -is_first_left : image), place, rows);
    for (int axis = 0; axis < 4; axis++) {
        const VALUE limit = INFO_LOAD(info, (axis % 2 == 0) != (swapped != 0));
        VALUE corner = number < 0 ? 0 : boxes[box * 4 + axis];
        corner = clips && number >= 0 ? clipped(corner, limit) : corner;
        OUT_STORE(normalized && number >= 0 ? corner / limit : corner, place + 1 + axis, rows);
    }
#if HAS_SCORES
    OUT_STORE(number < 0 ? (SCORE_VALUE)0 : scores[box], item, values);
#endif
}

// The corners and scores of boxes kept: all that are, one behind the other, or with `filled` also zeros where none is.
kernel void write_boxes(global const int *restrict kept, global const int *restrict before,
                        global const VALUE *restrict boxes, global const SCORE_VALUE *restrict scores,
                        global OUT *restrict rows, global OUT *restrict values, const int length, const int most,
                        const int filled, const int count)
{
    const int item = get_global_id(0);
    if (item >= count || (kept[item] < 0 && !filled))
        return;
    const bool is_box = kept[item] >= 0;
    const long box = (long)(item / most) * length + max(kept[item], 0), place = filled ? item : before[item];
    for (int axis = 0; axis < 4; axis++)
        OUT_STORE(is_box ? boxes[box * 4 + axis] : (VALUE)0, place * 4 + axis, rows);
    OUT_STORE(is_box ? scores[box] : (SCORE_VALUE)0, place, values);
}

#ifdef COUNT
// How many boxes of each image are kept.
kernel void count_kept(global const int *restrict kept, global COUNT *restrict counts, const int most, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    int found = 0;
    while (found < most && kept[item * most + found] >= 0)
        found++;
    counts[item] = found;
}
#endif
