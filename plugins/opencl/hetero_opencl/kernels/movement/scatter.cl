// Scatter without a reduction. Each update has a target, a row of the data, or -1. For each row the last update wins.

// last[row] = index of the last update of the row. The buffer must be filled with -1 before.
kernel void find_last(global const int *restrict targets, global int *restrict last, const int count)
{
    const int item = get_global_id(0);
    if (item < count && targets[item] >= 0)
        atomic_max(last + targets[item], item);
}

// result[outer, row, inner] = updates[outer, last[row], inner], or the data if the row has no update.
kernel void replace(global const WORD *restrict data, global const WORD *restrict updates,
                    global const int *restrict last, global WORD *restrict result, const int rows, const int inner,
                    const int update_count, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    const int row = item / inner, update = last[row % rows];
    const int from = (row / rows * update_count + update) * inner + item % inner;
    result[item] = update < 0 ? data[item] : updates[from];
}
