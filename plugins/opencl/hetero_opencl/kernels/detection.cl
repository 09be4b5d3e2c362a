// What DetectionOutput does besides suppressing boxes. Rows are those of the classes of each image. VALUE is what boxes
// are computed in; OFFSET, PRIOR and SCORE are the element types of inputs, MORE_OFFSET and MORE_SCORE of those of the
// first step of a detector of two.
#pragma OPENCL FP_CONTRACT OFF

// A box moved by offsets.
void move(VALUE *box, const VALUE *offsets, const int is_corner, const int clip)
{
    VALUE moved[4];
    for (int axis = 0; axis < 2; axis++) {
        const VALUE first = box[axis], last = box[axis + 2], size = last - first;
        const VALUE center = offsets[axis] * size + (last + first) / 2, half_size = exp(offsets[axis + 2]) * size / 2;
        moved[axis] = is_corner ? first + offsets[axis] : center - half_size;
        moved[axis + 2] = is_corner ? last + offsets[axis + 2] : center + half_size;
    }
    for (int axis = 0; axis < 4; axis++)
        box[axis] = clip ? fmin(fmax(moved[axis], (VALUE)0), (VALUE)1) : moved[axis];
}

// The boxes [images][priors][locations][4] from priors, their variances and offsets. Priors are in parts of the image
// once they are divided by its width and height.
kernel void move_priors(global const PRIOR *restrict priors, global const OFFSET *restrict offsets,
                        global const MORE_OFFSET *restrict more_offsets, global VALUE *restrict boxes,
                        const int prior_count, const int locations, const int prior_size, const int prior_rows,
                        const int prior_images, const VALUE width, const VALUE height, const int is_corner,
                        const int clip, const int two_steps, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    const int prior = item / locations % prior_count, image = item / locations / prior_count;
    priors += (long)(prior_images > 1 ? image : 0) * prior_rows * prior_count * prior_size;
    VALUE box[4], variances[4], by[4];
    for (int axis = 0; axis < 4; axis++) {
        box[axis] = PRIOR_LOAD(priors, (long)prior * prior_size + prior_size - 4 + axis);
        box[axis] /= axis % 2 ? height : width;
        variances[axis] = prior_rows > 1 ? PRIOR_LOAD(priors, (long)prior_count * prior_size + prior * 4 + axis) : 1;
        by[axis] = two_steps ? MORE_OFFSET_LOAD(more_offsets, (long)item * 4 + axis) * variances[axis] : 0;
    }
    if (two_steps)
        move(box, by, is_corner, clip);
    for (int axis = 0; axis < 4; axis++)
        by[axis] = OFFSET_LOAD(offsets, (long)item * 4 + axis) * variances[axis];
    move(box, by, is_corner, clip);
    for (int axis = 0; axis < 4; axis++)
        boxes[(long)item * 4 + axis] = box[axis];
}

// The score of a class of a prior; what the first step takes for no object is all background.
SCORE_VALUE score_at(global const SCORE *scores, global const MORE_SCORE *more_scores, const long prior,
                            const int kind, const int classes, const int background, const float objectness,
                            const int two_steps)
{
    if (two_steps && MORE_SCORE_LOAD(more_scores, prior * 2 + 1) < objectness)
        return kind == background;
    return SCORE_LOAD(scores, prior * classes + kind);
}

// The scores [images * classes][priors], NaN for those of the background.
kernel void turn_scores(global const SCORE *restrict scores, global const MORE_SCORE *restrict more_scores,
                        global SCORE_VALUE *restrict out, const int priors, const int classes, const int background,
                        const float objectness, const int two_steps, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    const int kind = item / priors % classes;
    const long prior = (long)(item / priors / classes) * priors + item % priors;
    out[item] = kind == background ? NAN : score_at(scores, more_scores, prior, kind, classes, background, objectness,
                                                     two_steps);
}

// The best class of each prior, apart from the background and class 0, and its score: [images][priors]. NaN where there
// is no such class.
kernel void find_best_class(global const SCORE *restrict scores, global const MORE_SCORE *restrict more_scores,
                            global SCORE_VALUE *restrict values, global int *restrict kinds, const int classes,
                            const int background, const float objectness, const int two_steps, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    int best = -1;
    SCORE_VALUE largest = NAN;
    for (int kind = 1; kind < classes; kind++) {
        const SCORE_VALUE value = score_at(scores, more_scores, item, kind, classes, background, objectness, two_steps);
        if (kind != background && (best < 0 || value > largest)) {
            best = kind;
            largest = value;
        }
    }
    values[item] = largest;
    kinds[item] = best;
}

// The scores [images * classes][priors] of those priors in an order that are candidates, each of its best class alone.
kernel void spread_best(global const SCORE_VALUE *restrict values, global const int *restrict kinds,
                        global const int *restrict order, global const int *restrict gone,
                        global SCORE_VALUE *restrict out, const int priors, const int classes, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    const int image = item / priors, prior = order[item];
    for (int kind = 0; kind < classes; kind++) {
        const bool good = !gone[item] && kinds[image * priors + prior] == kind;
        out[((long)image * classes + kind) * priors + prior] = good ? values[image * priors + prior] : (SCORE_VALUE)NAN;
    }
}

// The numbers kept, and behind all others those of nothing.
kernel void number_keys(global const int *restrict kept, global int *restrict keys, const int count)
{
    const int item = get_global_id(0);
    if (item < count)
        keys[item] = kept[item] < 0 ? INT_MAX : kept[item];
}

// A 1 for each entry that is kept and among the first `most` of its image; by_number is an order of each image, and
// by_score one of what that gives.
kernel void mark_best(global const int *restrict kept, global const int *restrict by_number,
                      global const int *restrict by_score, global int *restrict flags, const int entries,
                      const int most, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    const int first = item / entries * entries, entry = first + by_number[first + by_score[item]];
    flags[entry] = kept[entry] >= 0 && item % entries < most;
}

// Image, class, score and corners of each entry with a flag, one behind the other; after the last a -1, and 0 else.
// Entries are [images][classes][kept_of_row]. There may be more of them than rows, or fewer.
kernel void write_rows(global const int *restrict flags, global const int *restrict before,
                       global const int *restrict total, global const int *restrict kept,
                       global const SCORE_VALUE *restrict values, global const VALUE *restrict boxes,
                       global OUT *restrict out, const int entries, const int classes, const int kept_of_row,
                       const int priors, const int locations, const int rows, const int clip, const int shift,
                       const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    if (item >= total[0] && item < rows)
        for (int axis = 0; axis < 7; axis++)
            OUT_STORE((VALUE)(axis == 0 && item == total[0] ? -1 : 0), (long)item * 7 + axis, out);
    if (item >= entries || !flags[item] || before[item] >= rows)
        return;
    const int row = item / kept_of_row, image = row / classes, kind = row % classes;
    const long box = ((long)image * priors + kept[item]) * locations + (locations > 1 ? kind : 0);
    const long place = (long)before[item] * 7;
    OUT_STORE((VALUE)image, place, out);
    OUT_STORE((VALUE)(kind - shift), place + 1, out);
    OUT_STORE(values[item], place + 2, out);
    for (int axis = 0; axis < 4; axis++) {
        const VALUE corner = boxes[box * 4 + axis];
        OUT_STORE(clip ? fmin(fmax(corner, (VALUE)0), (VALUE)1) : corner, place + 3 + axis, out);
    }
}
