// Helpers on int buffers.

kernel void fill(global int *restrict target, const int value, const int count)
{
    const int item = get_global_id(0);
    if (item < count)
        target[item] = value;
}
// flags[i] = 1 if an index is valid, that is not negative.
kernel void mark_valid(global const int *restrict indices, global int *restrict flags, const int count)
{
    const int item = get_global_id(0);
    if (item < count)
        flags[item] = indices[item] >= 0;
}

// The shape of an output with a data-dependent dimension: known[axis], or the total where that is negative.
kernel void write_shape(global const long *restrict known, global const int *restrict total,
                        global long *restrict dimensions, const int count)
{
    const int item = get_global_id(0);
    if (item < count)
        dimensions[item] = known[item] < 0 ? total[0] : known[item];
}
