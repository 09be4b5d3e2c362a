// Unique slices along the middle axis of data [outer][length][inner]. `order` sorts the slices, so that equal ones, a
// group, are adjacent. positions[first slice of a group] is the position of the group in the result, unless groups stay
// in sorted order (in_order).

// flags[i] = 1 if a group begins at position i of the order.
kernel void find_groups(global const DATA *restrict data, global const int *restrict order, global int *restrict flags,
                        const int inner, const int slices, const int count)
{
    const int item = get_global_id(0);
    if (item < count)
        flags[item] = !item || slice_is_before(data, slices, count, inner, order[item - 1], order[item]);
}

// For each group: its first slice, and where it begins in the order. marks[slice] = 1 for the first slices.
kernel void find_firsts(global const int *restrict order, global const int *restrict flags,
                        global const int *restrict group_before, global int *restrict firsts,
                        global int *restrict begins, global int *restrict marks, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    marks[order[item]] = flags[item];
    if (flags[item]) {
        firsts[group_before[item]] = order[item];
        begins[group_before[item]] = item;
    }
}

// For each group: the index of its first slice, and its size.
kernel void write_groups(global const int *restrict firsts, global const int *restrict begins,
                         global const int *restrict positions, global const int *restrict total,
                         global INDEX *restrict indices, global COUNT *restrict counts, const int in_order,
                         const int count)
{
    const int group = get_global_id(0);
    if (group >= min(count, total[0]))
        return;
    const int position = in_order ? group : positions[firsts[group]];
    indices[position] = firsts[group];
    counts[position] = (group + 1 < total[0] ? begins[group + 1] : count) - begins[group];
}

// For each slice of the data: the position of its group.
kernel void write_inverse(global const int *restrict order, global const int *restrict flags,
                          global const int *restrict group_before, global const int *restrict firsts,
                          global const int *restrict positions, global INDEX *restrict inverse, const int in_order,
                          const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    const int group = group_before[item] + flags[item] - 1;
    inverse[order[item]] = in_order ? group : positions[firsts[group]];
}

// values[outer, group, inner] = the first slice of each group.
kernel void write_values(global const DATA *restrict data, global const INDEX *restrict indices,
                         global const int *restrict total, global DATA *restrict values, const int length,
                         const int inner, const int count)
{
    const int item = get_global_id(0), slice = item / inner, number = slice % length, outer = slice / length;
    if (item >= count || number >= total[0])
        return;
    const int from = (outer * length + (int)indices[number]) * inner + item % inner;
    DATA_STORE(DATA_LOAD(data, from), (outer * total[0] + number) * inner + item % inner, values);
}
