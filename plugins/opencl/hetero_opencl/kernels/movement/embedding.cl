// Reductions over bags of table rows. `starts` holds where each bag begins in the indices, and then where the last one
// ends.

// Starts of bags from offsets; the last bag ends with the indices.
kernel void bags_of_offsets(global const INDEX *restrict offsets, global int *restrict starts, const int bags,
                            const int index_count, const int count)
{
    const int item = get_global_id(0);
    if (item < count)
        starts[item] = item < bags ? (int)clamp((long)INDEX_LOAD(offsets, item), 0L, (long)index_count) : index_count;
}

// Starts of bags from the bag id of each index; `order` sorts the ids.
kernel void bags_of_ids(global const INDEX *restrict ids, global const int *restrict order, global int *restrict starts,
                        const int index_count, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    int low = 0, high = index_count;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (INDEX_LOAD(ids, order[middle]) < item)
            low = middle + 1;
        else
            high = middle;
    }
    starts[item] = low;
}

// Sum or mean of the table rows [rows][width] of each bag, optionally weighted. An empty bag is the row of the default
// index, or zero if there is none or it is -1. Out-of-range indices are skipped.
kernel void sum_bags(global const DATA *restrict table, global const INDEX *restrict indices,
                     global const int *restrict order, global const int *restrict starts,
                     global const INDEX *restrict default_index, global const DATA *restrict weights,
                     global DATA *restrict target, const int rows, const int width, const int is_ordered,
                     const int has_default, const int is_weighted, const int is_mean, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    const int bag = item / width, column = item % width, begin = starts[bag], end = starts[bag + 1];
    DATA_VALUE sum = 0;
    for (int next = begin; next < end; next++) {
        const int number = is_ordered ? order[next] : next;
        const int row = normalize_index(INDEX_LOAD(indices, number), rows);
        if (row >= 0) {
            const DATA_VALUE element = DATA_LOAD(table, row * width + column);
            sum += is_weighted ? element * DATA_LOAD(weights, number) : element;
        }
    }
    if (begin < end) {
        DATA_STORE(is_mean ? sum / (DATA_VALUE)(end - begin) : sum, item, target);
        return;
    }
    const long other = has_default ? (long)INDEX_LOAD(default_index, 0) : -1;
    const int row = other == -1 ? -1 : normalize_index(other, rows);
    DATA_STORE(row < 0 ? (DATA_VALUE)(0) : DATA_LOAD(table, row * width + column), item, target);
}

// Element-wise maximum of the rows of each bag, NaN above all; `fill` for an empty bag.
kernel void largest_in_bags(global const DATA *restrict data, global const int *restrict starts,
                            global const DATA *restrict fill, global DATA *restrict target, const int width,
                            const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    const int bag = item / width, begin = starts[bag], end = starts[bag + 1];
    DATA_VALUE largest = DATA_LOAD(fill, 0);
    for (int row = begin; row < end; row++) {
        const DATA_VALUE element = DATA_LOAD(data, row * width + item % width);
        largest = row == begin || element != element || element > largest ? element : largest;
    }
    DATA_STORE(largest, item, target);
}
