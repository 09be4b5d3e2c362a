// Map each element of the data to values[i], where keys[i] equals it, or to the default. `ordered` holds the indices of
// the sorted keys; the last of equal keys counts.
kernel void encode(global const RIGHT *restrict data, global const LEFT *restrict keys,
                   global const int *restrict ordered, global const WORD *restrict values,
                   global const WORD *restrict default_value, global WORD *restrict target, const int keys_count,
                   const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    const RIGHT_VALUE value = RIGHT_LOAD(data, item);
    int low = 0, high = keys_count;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (compare(LEFT_LOAD(keys, ordered[middle]), value) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    const bool is_known = low && !compare(LEFT_LOAD(keys, ordered[low - 1]), value);
    target[item] = is_known ? values[ordered[low - 1]] : default_value[0];
}
