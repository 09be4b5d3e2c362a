// Insertion positions of values in sorted sequences: before equal elements, or after them if `after`. NaN sorts last.
// There is one sequence for all rows of values, or with `per_row` one per row of `width` values.
kernel void search(global const LEFT *restrict sequences, global const RIGHT *restrict values,
                   global INDEX *restrict positions, const int length, const int width, const int per_row,
                   const int after, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    const int start = per_row ? item / width * length : 0;
    const RIGHT_VALUE value = RIGHT_LOAD(values, item);
    int low = 0, high = length;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (compare(LEFT_LOAD(sequences, start + middle), value) < after)
            low = middle + 1;
        else
            high = middle;
    }
    positions[item] = low;
}
