// What Detectron's operations do besides suppressing boxes. DATA is the element type, move_box stands in a text of its
// own.

// The boxes [boxes][classes][4] that offsets divided by weights make, within the image.
kernel void move_for_classes(global const DATA *restrict given, global const DATA *restrict offsets,
                             global const DATA *restrict info, global const float *restrict weights,
                             global VALUE *restrict boxes, const int classes, const VALUE largest, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    VALUE box[4], by[4];
    for (int axis = 0; axis < 4; axis++) {
        box[axis] = DATA_LOAD(given, (long)(item / classes) * 4 + axis);
        by[axis] = DATA_LOAD(offsets, (long)item * 4 + axis) / weights[axis];
    }
    move_box(box, by, 1, largest);
    for (int axis = 0; axis < 4; axis++) {
        const VALUE limit = DATA_LOAD(info, axis % 2 == 0) - 1;
        boxes[(long)item * 4 + axis] = clipped(box[axis] - (axis < 2 ? 0 : 1), limit);
    }
}

// The scores [classes][boxes], NaN for the background and for boxes without an area.
kernel void turn_class_scores(global const DATA *restrict given, global const DATA *restrict scores,
                              global VALUE *restrict out, const int classes, const int boxes, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    const int kind = item / boxes, box = item % boxes;
    given += (long)box * 4;
    const bool real = DATA_LOAD(given, 2) > DATA_LOAD(given, 0) && DATA_LOAD(given, 3) > DATA_LOAD(given, 1);
    out[item] = kind && real ? DATA_LOAD(scores, (long)box * classes + kind) : (VALUE)NAN;
}

// Corners, class and score of what is kept of each class [classes][kept_of_class]: where there are more than rows the
// best, else class by class; then zeros.
kernel void write_objects(global const int *restrict kept, global const int *restrict flags,
                          global const int *restrict before, global const int *restrict total,
                          global const int *restrict order, global const VALUE *restrict values,
                          global const VALUE *restrict boxes, global DATA *restrict corners, global int *restrict kinds,
                          global DATA *restrict scores, const int classes, const int kept_of_class, const int entries,
                          const int rows, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    if (item >= total[0] && item < rows) {
        for (int axis = 0; axis < 4; axis++)
            DATA_STORE((VALUE)0, (long)item * 4 + axis, corners);
        kinds[item] = 0;
        DATA_STORE((VALUE)0, item, scores);
    }
    if (item >= entries)
        return;
    const bool is_best_first = total[0] > rows;
    const int entry = is_best_first ? order[item] : item, place = is_best_first ? item : before[item];
    if (!flags[entry] || place >= rows)
        return;
    const int kind = entry / kept_of_class;
    for (int axis = 0; axis < 4; axis++)
        DATA_STORE(boxes[((long)kept[entry] * classes + kind) * 4 + axis], (long)place * 4 + axis, corners);
    kinds[place] = kind;
    DATA_STORE(values[entry], place, scores);
}

// The boxes in an order, then zeros.
kernel void take_boxes(global const DATA *restrict boxes, global const int *restrict order, global DATA *restrict out,
                       const int boxes_given, const int count)
{
    const int item = get_global_id(0);
    if (item < count)
        DATA_STORE(item / 4 < boxes_given ? DATA_LOAD(boxes, (long)order[item / 4] * 4 + item % 4) : 0, item, out);
}

// Priors around the centre of each cell: [height][width][priors][4].
kernel void place_priors(global const DATA *restrict priors, global const VALUE *restrict x,
                         global const VALUE *restrict y, global DATA *restrict out, const int width,
                         const int priors_given,
                         const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    const int cell = item / 4 / priors_given;
    const VALUE center = item % 2 ? y[cell / width] : x[cell % width];
    DATA_STORE(center + DATA_LOAD(priors, item % (4 * priors_given)), item, out);
}
