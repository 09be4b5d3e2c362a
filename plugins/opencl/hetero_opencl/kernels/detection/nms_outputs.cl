// Write (batch, class, box index) and (batch, class, score) of the kept boxes, from indices [batches *
// classes][max_kept]. They stay in this order, or are sorted by score with `sorted`. `before` is the exclusive prefix
// sum of the kept flags.
kernel void write_kept(global const int *restrict kept, global const int *restrict order,
                       global const int *restrict before, global const int *restrict total,
                       global INDEX *restrict places,
#ifdef SCORE
                       global const SCORE *restrict scores, global float *restrict values,
#endif
                       const int classes, const int max_kept, const int rows, const int sorted, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    // Pad an output of fixed size.
#ifndef SCORE
    if (item >= total[0] && item < rows)
        for (int axis = 0; axis < 3; axis++)
            places[item * 3 + axis] = -1;
#endif
    const int entry = sorted ? order[item] : item, position = sorted ? item : before[item];
    if (kept[entry] < 0 || position >= min(rows, total[0]))
        return;
    const int row = entry / max_kept;
    places[position * 3] = row / classes;
    places[position * 3 + 1] = row % classes;
    places[position * 3 + 2] = kept[entry];
#ifdef SCORE
    values[position * 3] = row / classes;
    values[position * 3 + 1] = row % classes;
    values[position * 3 + 2] = scores[entry];
#endif
}

kernel void write_count(global const int *restrict total, global INDEX *restrict target, const int count)
{
    if (get_global_id(0) < count)
        target[0] = total[0];
}
