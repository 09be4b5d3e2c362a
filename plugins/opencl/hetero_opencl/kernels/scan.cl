// Buffers of int: filled, and summed up to each element. A work-item sums one part of a buffer of so many elements.

kernel void fill(global int *restrict target, const int value, const int count)
{
    const int item = get_global_id(0);
    if (item < count)
        target[item] = value;
}

kernel void part_sums(global const int *restrict values, global int *restrict sums, const int length, const int part,
                      const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    const int end = min(length, (item + 1) * part);
    int sum = 0;
    for (int i = item * part; i < end; i++)
        sum += values[i];
    sums[item] = sum;
}

// One work-item puts in the place of each sum the sum of those before, and gives the sum of all.
kernel void sum_parts(global int *restrict sums, global int *restrict total, const int parts, const int count)
{
    if (get_global_id(0) >= count)
        return;
    int sum = 0;
    for (int i = 0; i < parts; i++) {
        const int here = sums[i];
        sums[i] = sum;
        sum += here;
    }
    total[0] = sum;
}

// For each element the sum of those before it.
kernel void sums_before(global const int *restrict values, global const int *restrict sums, global int *restrict target,
                        const int length, const int part, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    const int end = min(length, (item + 1) * part);
    int sum = sums[item];
    for (int i = item * part; i < end; i++) {
        target[i] = sum;
        sum += values[i];
    }
}

// The dimensions of a value whose shape was found out: those that are known, and where one is negative the total.
kernel void write_shape(global const long *restrict known, global const int *restrict total,
                        global long *restrict dimensions, const int count)
{
    const int item = get_global_id(0);
    if (item < count)
        dimensions[item] = known[item] < 0 ? total[0] : known[item];
}
