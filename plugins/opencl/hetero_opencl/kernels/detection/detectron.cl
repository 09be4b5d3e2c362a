// Steps of the ExperimentalDetectron operations besides the suppression. DATA is the element type. decode_box comes
// from box_decoding.cl.

// Decode boxes [boxes][classes][4] from offsets divided by weights, clipped to the image.
kernel void decode_for_classes(global const DATA *restrict boxes_in, global const DATA *restrict offsets,
                               global const DATA *restrict info, global const float *restrict weights,
                               global VALUE *restrict boxes, const int classes, const VALUE largest, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    VALUE box[4], deltas[4];
    for (int axis = 0; axis < 4; axis++) {
        box[axis] = DATA_LOAD(boxes_in, (long)(item / classes) * 4 + axis);
        deltas[axis] = DATA_LOAD(offsets, (long)item * 4 + axis) / weights[axis];
    }
    decode_box(box, deltas, 1, largest);
    for (int axis = 0; axis < 4; axis++) {
        const VALUE limit = DATA_LOAD(info, axis % 2 == 0) - 1;
        boxes[(long)item * 4 + axis] = clipped(box[axis] - (axis < 2 ? 0 : 1), limit);
    }
}

// Transpose scores to [classes][boxes]; those of the background and of boxes without an area are NaN.
kernel void transpose_scores(global const DATA *restrict boxes_in, global const DATA *restrict scores,
                             global VALUE *restrict out, const int classes, const int boxes, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    const int label = item / boxes, box = item % boxes;
    boxes_in += (long)box * 4;
    const bool has_area =
        DATA_LOAD(boxes_in, 2) > DATA_LOAD(boxes_in, 0) && DATA_LOAD(boxes_in, 3) > DATA_LOAD(boxes_in, 1);
    out[item] = label && has_area ? DATA_LOAD(scores, (long)box * classes + label) : (VALUE)NAN;
}

// Write corners, class and score of kept entries [classes][kept_of_class]: class by class, or the best ones if there
// are more than `rows`. The other rows are zero.
kernel void write_objects(global const int *restrict kept, global const int *restrict flags,
                          global const int *restrict before, global const int *restrict total,
                          global const int *restrict order, global const VALUE *restrict values,
                          global const VALUE *restrict boxes, global DATA *restrict corners,
                          global int *restrict labels, global DATA *restrict scores, const int classes,
                          const int kept_of_class, const int entries, const int rows, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    if (item >= total[0] && item < rows) {
        for (int axis = 0; axis < 4; axis++)
            DATA_STORE((VALUE)0, (long)item * 4 + axis, corners);
        labels[item] = 0;
        DATA_STORE((VALUE)0, item, scores);
    }
    if (item >= entries)
        return;
    const bool is_best_first = total[0] > rows;
    const int entry = is_best_first ? order[item] : item, place = is_best_first ? item : before[item];
    if (!flags[entry] || place >= rows)
        return;
    const int label = entry / kept_of_class;
    for (int axis = 0; axis < 4; axis++)
        DATA_STORE(boxes[((long)kept[entry] * classes + label) * 4 + axis], (long)place * 4 + axis, corners);
    labels[place] = label;
    DATA_STORE(values[entry], place, scores);
}

// The first boxes in sorted order, padded with zeros.
kernel void take_boxes(global const DATA *restrict boxes, global const int *restrict order, global DATA *restrict out,
                       const int box_count, const int count)
{
    const int item = get_global_id(0);
    if (item < count)
        DATA_STORE(item / 4 < box_count ? DATA_LOAD(boxes, (long)order[item / 4] * 4 + item % 4) : 0, item, out);
}

// Priors around the center of each cell, [height][width][priors][4].
kernel void place_priors(global const DATA *restrict priors, global const VALUE *restrict x,
                         global const VALUE *restrict y, global DATA *restrict out, const int width,
                         const int prior_count, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    const int cell = item / 4 / prior_count;
    const VALUE center = item % 2 ? y[cell / width] : x[cell % width];
    DATA_STORE(center + DATA_LOAD(priors, item % (4 * prior_count)), item, out);
}
