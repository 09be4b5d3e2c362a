// Coordinates of the elements that are not zero, [rank][total]. find: flags[i] = 1 if element i is not zero.
// write_coordinates: `before` is the exclusive prefix sum of the flags, `lengths` are the lengths of the axes.
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
