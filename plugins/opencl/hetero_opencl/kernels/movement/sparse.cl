// Fill the empty rows of a sparse matrix, indices [entries][2] and values. One candidate entry per row is appended; it
// is is_kept if the row is empty, that is not marked.
kernel void mark_rows(global const INDEX *restrict indices, global int *restrict marks, const int rows, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    const long row = INDEX_LOAD(indices, 2 * item);
    if (row >= 0 && row < rows)
        atomic_or(marks + row, 1);
}

// Sort keys: the row of each entry, LONG_MAX for candidates that are dropped. is_kept[i] = 1 for all others.
kernel void find_entries(global const INDEX *restrict indices, global const int *restrict marks,
                         global long *restrict keys, global int *restrict is_kept, global uchar *restrict is_empty,
                         const int entries, const int count)
{
    const int item = get_global_id(0), row = item - entries;
    if (item >= count)
        return;
    is_kept[item] = row < 0 || !marks[row];
    keys[item] = row < 0 ? (long)INDEX_LOAD(indices, 2 * item) : is_kept[item] ? row : LONG_MAX;
    if (row >= 0)
        is_empty[row] = is_kept[item];
}

kernel void write_entries(global const INDEX *restrict indices, global const WORD *restrict values,
                          global const WORD *restrict default_value, global const int *restrict order,
                          global const int *restrict total, global INDEX *restrict indices_out,
                          global WORD *restrict values_out, const int entries, const int count)
{
    const int item = get_global_id(0);
    if (item >= min(count, total[0]))
        return;
    const int entry = order[item], row = entry - entries;
    indices_out[2 * item] = row < 0 ? indices[2 * entry] : (INDEX)row;
    indices_out[2 * item + 1] = row < 0 ? indices[2 * entry + 1] : (INDEX)0;
    values_out[item] = row < 0 ? values[entry] : default_value[0];
}
