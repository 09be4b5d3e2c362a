// Steps of DetectionOutput besides the suppression. Candidates are in rows, one per class and image. VALUE is the C
// type in which boxes are computed. OFFSET, PRIOR and SCORE are the element types of inputs; MORE_OFFSET and MORE_SCORE
// are those of the first stage of a two-stage detector.
#pragma OPENCL FP_CONTRACT OFF

VALUE clipped(const VALUE x)
{
    return x < 0 ? 0 : x > 1 ? 1 : x;  // NaN stays
}

// Decode a box from a prior and offsets, which are corner differences or (center, log size) differences.
void decode_box(VALUE *box, const VALUE *offsets, const int is_corner, const int clip)
{
    VALUE moved[4];
    for (int axis = 0; axis < 2; axis++) {
        const VALUE first = box[axis], last = box[axis + 2], size = last - first;
        const VALUE center = offsets[axis] * size + (last + first) / 2, half_size = exp(offsets[axis + 2]) * size / 2;
        moved[axis] = is_corner ? first + offsets[axis] : center - half_size;
        moved[axis + 2] = is_corner ? last + offsets[axis + 2] : center + half_size;
    }
    for (int axis = 0; axis < 4; axis++)
        box[axis] = clip ? clipped(moved[axis]) : moved[axis];
}

// Decode boxes [images][priors][locations][4] from priors, their variances and offsets. Priors are divided by width and
// height, those of the image if they are in pixels, else 1.
kernel void decode_priors(global const PRIOR *restrict priors, global const OFFSET *restrict offsets,
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
    VALUE box[4], variances[4], deltas[4];
    for (int axis = 0; axis < 4; axis++) {
        box[axis] = PRIOR_LOAD(priors, (long)prior * prior_size + prior_size - 4 + axis);
        box[axis] /= axis % 2 ? height : width;
        variances[axis] = prior_rows > 1 ? PRIOR_LOAD(priors, (long)prior_count * prior_size + prior * 4 + axis) : 1;
        deltas[axis] = two_steps ? MORE_OFFSET_LOAD(more_offsets, (long)item * 4 + axis) * variances[axis] : 0;
    }
    if (two_steps)
        decode_box(box, deltas, is_corner, clip);
    for (int axis = 0; axis < 4; axis++)
        deltas[axis] = OFFSET_LOAD(offsets, (long)item * 4 + axis) * variances[axis];
    decode_box(box, deltas, is_corner, clip);
    for (int axis = 0; axis < 4; axis++)
        boxes[(long)item * 4 + axis] = box[axis];
}

// Score of a class of a prior. If the first stage finds no object, the prior is background.
SCORE_VALUE score_at(global const SCORE *scores, global const MORE_SCORE *more_scores, const long prior,
                     const int label, const int classes, const int background, const float objectness,
                     const int two_steps)
{
    if (two_steps && MORE_SCORE_LOAD(more_scores, prior * 2 + 1) < objectness)
        return label == background;
    return SCORE_LOAD(scores, prior * classes + label);
}

// Transpose scores to [images * classes][priors]; those of the background are NaN.
kernel void transpose_scores(global const SCORE *restrict scores, global const MORE_SCORE *restrict more_scores,
                             global SCORE_VALUE *restrict out, const int priors, const int classes,
                             const int background, const float objectness, const int two_steps, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    const int label = item / priors % classes;
    const long prior = (long)(item / priors / classes) * priors + item % priors;
    out[item] = label == background ? NAN : score_at(scores, more_scores, prior, label, classes, background, objectness,
                                                     two_steps);
}

// Best class of each prior except class 0 and the background, and its score, [images][priors]. NaN if there is none.
kernel void find_best_class(global const SCORE *restrict scores, global const MORE_SCORE *restrict more_scores,
                            global SCORE_VALUE *restrict values, global int *restrict labels, const int classes,
                            const int background, const float objectness, const int two_steps, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    int best = -1;
    SCORE_VALUE largest = NAN;
    for (int label = 1; label < classes; label++) {
        const SCORE_VALUE value =
            score_at(scores, more_scores, item, label, classes, background, objectness, two_steps);
        if (label != background && (best < 0 || value > largest)) {
            best = label;
            largest = value;
        }
    }
    values[item] = largest;
    labels[item] = best;
}

// Scatter the scores of the candidates at sorted positions to [images * classes][priors]: only that of the best class,
// NaN elsewhere.
kernel void scatter_best(global const SCORE_VALUE *restrict values, global const int *restrict labels,
                         global const int *restrict order, global const int *restrict suppressed,
                         global SCORE_VALUE *restrict out, const int priors, const int classes, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    const int image = item / priors, prior = order[item];
    for (int label = 0; label < classes; label++) {
        const bool good = !suppressed[item] && labels[image * priors + prior] == label;
        const long position = ((long)image * classes + label) * priors + prior;
        out[position] = good ? values[image * priors + prior] : (SCORE_VALUE)NAN;
    }
}

// Sort keys: the kept indices; padding sorts last.
kernel void index_keys(global const int *restrict kept, global int *restrict keys, const int count)
{
    const int item = get_global_id(0);
    if (item < count)
        keys[item] = kept[item] < 0 ? INT_MAX : kept[item];
}

// flags[entry] = 1 for entries kept that are among the first `max_kept` of their image, sorted by score and, for equal
// scores, by prior. by_number sorts entries by prior; by_score sorts the result of that.
kernel void mark_best(global const int *restrict kept, global const int *restrict by_number,
                      global const int *restrict by_score, global int *restrict flags, const int entries,
                      const int max_kept, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    const int first = item / entries * entries, entry = first + by_number[first + by_score[item]];
    flags[entry] = kept[entry] >= 0 && item % entries < max_kept;
}

// Write (image, class, score, corners) of flagged entries to consecutive rows; -1 marks the end, further rows are 0.
// Entries are [images][classes][kept_of_row]; there may be more or fewer of them than rows.
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
    const int row = item / kept_of_row, image = row / classes, label = row % classes;
    const long box = ((long)image * priors + kept[item]) * locations + (locations > 1 ? label : 0);
    const long place = (long)before[item] * 7;
    OUT_STORE((VALUE)image, place, out);
    OUT_STORE((VALUE)(label - shift), place + 1, out);
    OUT_STORE(values[item], place + 2, out);
    for (int axis = 0; axis < 4; axis++) {
        const VALUE corner = boxes[box * 4 + axis];
        OUT_STORE(clip ? clipped(corner) : corner, place + 3 + axis, out);
    }
}
