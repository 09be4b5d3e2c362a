// Steps of MulticlassNms and MatrixNms besides the suppression. There is one row of scores per class and batch.

// bounds[batch] = index of the first box of a batch in a list of the boxes of all batches, [batches + 1].
kernel void find_bounds(global const INDEX *restrict counts, global int *restrict bounds, const int batches,
                        const int length, const int count)
{
    if (get_global_id(0) >= count)
        return;
    long end = 0;
    for (int batch = 0; batch < batches; batch++) {
        bounds[batch] = (int)min(end, (long)length);
        end = min(end + max((long)counts[batch], 0L), (long)length);
    }
    bounds[batches] = (int)end;
}

// Scores [rows][length]: NaN for the background class and, if `is_flat` (one list of boxes for all batches), for boxes
// of other batches.
kernel void mask_scores(global const DATA *restrict scores, global const int *restrict bounds,
                        global float *restrict out,
                        const int length, const int classes, const int background, const int is_flat, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    const int number = item % length, row = item / length, batch = row / classes, label = row % classes;
    const bool elsewhere = is_flat && (number < bounds[batch] || number >= bounds[batch + 1]);
    const long place = is_flat ? (long)label * length + number : item;
    out[item] = label == background || elsewhere ? NAN : DATA_LOAD(scores, place);
}

// The best kept entries of each batch, at most `max_kept`, in descending order of scores, padded with -1.
kernel void pick_best(global const int *restrict kept, global const int *restrict order, global int *restrict picked,
                      const int entries, const int max_kept, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    const int batch = item / max_kept, entry = batch * entries + order[batch * entries + item % max_kept];
    picked[item] = kept[entry] < 0 ? -1 : entry;
}

// Sort keys of picked entries: scores and classes. Padding sorts last.
kernel void find_keys(global const int *restrict picked, global const float *restrict values,
                      global float *restrict scores, global int *restrict labels, const int kept_of_row,
                      const int classes, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    const int entry = picked[item];
    scores[item] = entry < 0 ? -INFINITY : values[entry];
    labels[item] = entry < 0 ? INT_MAX : entry / kept_of_row % classes;
}

// Write (class, score, corners) of each picked entry, and the index of its box. `before` is the exclusive prefix sum of
// the picked flags.
kernel void write_picked(global const int *restrict picked, global const int *restrict before,
                         global const int *restrict kept, global const float *restrict values,
                         global const DATA *restrict boxes, global DATA *restrict rows, global INDEX *restrict numbers,
                         const int kept_of_row, const int classes, const int length, const int is_flat, const int count)
{
    const int item = get_global_id(0);
    if (item >= count || picked[item] < 0)
        return;
    const int entry = picked[item], row = entry / kept_of_row, batch = row / classes, label = row % classes;
    const long number = kept[entry], box = is_flat ? (long)label * length + number : (long)batch * length + number;
    const long place = (long)before[item] * 6;
    DATA_STORE((DATA_VALUE)label, place, rows);
    DATA_STORE(values[entry], place + 1, rows);
    for (int axis = 0; axis < 4; axis++)
        DATA_STORE(DATA_LOAD(boxes, box * 4 + axis), place + 2 + axis, rows);
    numbers[before[item]] = is_flat ? number * classes + label : box;
}
