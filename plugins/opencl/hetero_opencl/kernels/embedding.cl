// Rows of a table, or of data, combined over bags. starts tells where each bag begins in the indices and, behind the
// last, where that ends.

// Where bags begin that offsets tell; the last one ends with the indices.
kernel void bags_of_offsets(global const INDEX *restrict offsets, global int *restrict starts, const int bags,
                            const int index_count, const int count)
{
    const int item = get_global_id(0);
    if (item < count)
        starts[item] = item < bags ? (int)clamp((long)INDEX_LOAD(offsets, item), 0L, (long)index_count) : index_count;
}

// Where bags begin whose numbers come with the indices; order puts these into the order of their bags.
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

// Sums, or means, of the table rows [rows][width] that the indices of each bag name, weighted or not. An empty bag
// takes the row of the default index, or zeros where there is none or it is -1. An index from outside adds nothing.
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

// The largest elements of the rows of data of each bag, NaN above all; the fill where it is empty.
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
