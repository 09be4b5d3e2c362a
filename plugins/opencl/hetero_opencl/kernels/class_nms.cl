// What MulticlassNms and MatrixNms do besides suppressing boxes. Rows are those of the classes of each batch.

// Where the boxes of each batch begin where all are in one list, and where the last end: [batches + 1].
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

// The scores [rows][length], NaN for those of the background and, with bounds, of other batches.
kernel void mask_scores(global const DATA *restrict scores, global const int *restrict bounds,
                        global float *restrict out,
                        const int length, const int classes, const int background, const int bounded, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    const int number = item % length, row = item / length, batch = row / classes, kind = row % classes;
    const bool elsewhere = bounded && (number < bounds[batch] || number >= bounds[batch + 1]);
    const long place = bounded ? (long)kind * length + number : item;
    out[item] = kind == background || elsewhere ? NAN : DATA_LOAD(scores, place);
}

// The numbers of the kept entries of each batch, `most` at most, best first, -1 where there are no more.
kernel void pick_best(global const int *restrict kept, global const int *restrict order, global int *restrict picked,
                      const int entries, const int most, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    const int batch = item / most, entry = batch * entries + order[batch * entries + item % most];
    picked[item] = kept[entry] < 0 ? -1 : entry;
}

// How many entries of each batch are picked: those that are come first.
kernel void count_picked(global const int *restrict picked, global INDEX *restrict counts, const int most,
                         const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    int found = 0;
    while (found < most && picked[item * most + found] >= 0)
        found++;
    counts[item] = found;
}

// The scores, or the classes, of what is picked; behind all others where nothing is.
kernel void find_keys(global const int *restrict picked, global const float *restrict values,
                      global float *restrict scores, global int *restrict kinds, const int kept_of_row,
                      const int classes, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    const int entry = picked[item];
    scores[item] = entry < 0 ? -INFINITY : values[entry];
    kinds[item] = entry < 0 ? INT_MAX : entry / kept_of_row % classes;
}

// Class, score and corners of what is picked, and its number among all boxes, one behind the other.
kernel void write_picked(global const int *restrict picked, global const int *restrict before,
                         global const int *restrict kept, global const float *restrict values,
                         global const DATA *restrict boxes, global DATA *restrict rows, global INDEX *restrict numbers,
                         const int kept_of_row, const int classes, const int length, const int bounded, const int count)
{
    const int item = get_global_id(0);
    if (item >= count || picked[item] < 0)
        return;
    const int entry = picked[item], row = entry / kept_of_row, batch = row / classes, kind = row % classes;
    const long number = kept[entry], box = bounded ? (long)kind * length + number : (long)batch * length + number;
    const long place = (long)before[item] * 6;
    DATA_STORE((DATA_VALUE)kind, place, rows);
    DATA_STORE(values[entry], place + 1, rows);
    for (int axis = 0; axis < 4; axis++)
        DATA_STORE(DATA_LOAD(boxes, box * 4 + axis), place + 2 + axis, rows);
    numbers[before[item]] = bounded ? number * classes + kind : box;
}
