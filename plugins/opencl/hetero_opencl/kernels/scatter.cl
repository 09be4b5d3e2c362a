// Updates written into a copy of the data, when each has its target, the number of a row of the data, or -1: each row
// finds the last of its updates.

// The number of the last update of each row; it must hold -1 before.
kernel void find_last(global const int *restrict targets, global int *restrict last, const int count)
{
    const int item = get_global_id(0);
    if (item < count && targets[item] >= 0)
        atomic_max(last + targets[item], item);
}

// result[outer, row, inner] = updates[outer, the last of the row, inner], or the data where there is none.
kernel void replace(global const WORD *restrict data, global const WORD *restrict updates,
                    global const int *restrict last, global WORD *restrict result, const int rows, const int inner,
                    const int update_count, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    const int row = item / inner, update = last[row % rows];
    const int place = (row / rows * update_count + update) * inner + item % inner;
    result[item] = update < 0 ? data[item] : updates[place];
}
