// The coordinates of all elements that are not zero, [rank][how many]: first which these are, then, when before tells
// how many come before each, where they are. lengths are those of the axes.
kernel void find(global const DATA *restrict data, global int *restrict flags, const int count)
{
    const int item = get_global_id(0);
    if (item < count)
        flags[item] = DATA_LOAD(data, item) != 0;
}

kernel void write_coordinates(global const int *restrict flags, global const int *restrict before,
                              global const int *restrict total, global const int *restrict lengths,
                              global INDEX *restrict target, const int rank, const int count)
{
    const int item = get_global_id(0);
    if (item >= count || !flags[item])
        return;
    int rest = item;
    for (int axis = rank - 1; axis >= 0; axis--) {
        target[axis * total[0] + before[item]] = rest % lengths[axis];
        rest /= lengths[axis];
    }
}
