// Batch, class and number of each box that is kept, and batch, class and score, from the numbers kept of each row
// [batches * classes][most]: in this order, or with `sorted` in the one of falling scores. `before` tells how many
// come before each.
kernel void write_kept(global const int *restrict kept, global const int *restrict order,
                       global const int *restrict before, global const int *restrict total,
                       global INDEX *restrict places,
#ifdef SCORE
                       global const SCORE *restrict scores, global float *restrict values,
#endif
                       const int classes, const int most, const int rows, const int sorted, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    // Rows that are not needed, where their number is fixed.
#ifndef SCORE
    if (item >= total[0] && item < rows)
        for (int axis = 0; axis < 3; axis++)
            places[item * 3 + axis] = -1;
#endif
    const int entry = sorted ? order[item] : item, place = sorted ? item : before[item];
    if (kept[entry] < 0 || place >= min(rows, total[0]))
        return;
    const int row = entry / most;
    places[place * 3] = row / classes;
    places[place * 3 + 1] = row % classes;
    places[place * 3 + 2] = kept[entry];
#ifdef SCORE
    values[place * 3] = row / classes;
    values[place * 3 + 1] = row % classes;
    values[place * 3 + 2] = scores[entry];
#endif
}

kernel void write_count(global const int *restrict total, global INDEX *restrict target, const int count)
{
    if (get_global_id(0) < count)
        target[0] = total[0];
}
