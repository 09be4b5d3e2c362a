// A sparse matrix with a default in each row that has no value: indices [entries][2] and values, sorted by rows. First
// come marks for the rows that have one; then an entry more for each row, which is kept where there is no mark.
kernel void mark_rows(global const INDEX *restrict indices, global int *restrict marks, const int rows, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    const long row = INDEX_LOAD(indices, 2 * item);
    if (row >= 0 && row < rows)
        atomic_or(marks + row, 1);
}

// The row of each entry, by which they are sorted: those that are not kept go to the end. And a 1 for those kept.
kernel void find_entries(global const INDEX *restrict indices, global const int *restrict marks,
                         global long *restrict keys, global int *restrict kept, global uchar *restrict is_empty,
                         const int entries, const int count)
{
    const int item = get_global_id(0), row = item - entries;
    if (item >= count)
        return;
    kept[item] = row < 0 || !marks[row];
    keys[item] = row < 0 ? (long)INDEX_LOAD(indices, 2 * item) : kept[item] ? row : LONG_MAX;
    if (row >= 0)
        is_empty[row] = kept[item];
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
