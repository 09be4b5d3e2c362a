// The different slices along the middle of data [outer][length][inner], when order has put equal ones side by side:
// groups, each with the number of its first slice. places tells the group's place in the result, by its first slice or,
// where groups stay in their order, not at all.

// A 1 where a group begins.
kernel void find_groups(global const DATA *restrict data, global const int *restrict order, global int *restrict flags,
                        const int inner, const int slices, const int count)
{
    const int item = get_global_id(0);
    if (item < count)
        flags[item] = !item || slice_is_before(data, slices, count, inner, order[item - 1], order[item]);
}

// For each group its first slice and where it begins in the order; and a mark at its first slice.
kernel void find_firsts(global const int *restrict order, global const int *restrict flags,
                        global const int *restrict before, global int *restrict firsts, global int *restrict begins,
                        global int *restrict marks, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    marks[order[item]] = flags[item];
    if (flags[item]) {
        firsts[before[item]] = order[item];
        begins[before[item]] = item;
    }
}

// For each group the index of its first slice, and how many it has.
kernel void write_groups(global const int *restrict firsts, global const int *restrict begins,
                         global const int *restrict places, global const int *restrict total,
                         global INDEX *restrict indices, global COUNT *restrict counts, const int in_order,
                         const int count)
{
    const int group = get_global_id(0);
    if (group >= min(count, total[0]))
        return;
    const int place = in_order ? group : places[firsts[group]];
    indices[place] = firsts[group];
    counts[place] = (group + 1 < total[0] ? begins[group + 1] : count) - begins[group];
}

// For each slice of the data its group's place.
kernel void write_inverse(global const int *restrict order, global const int *restrict flags,
                          global const int *restrict before, global const int *restrict firsts,
                          global const int *restrict places, global INDEX *restrict inverse, const int in_order,
                          const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    const int group = before[item] + flags[item] - 1;
    inverse[order[item]] = in_order ? group : places[firsts[group]];
}

// The first slice of each group: [outer][groups][inner].
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
