// Inclusive or exclusive scan of data [outer][length][inner] along the middle axis, with the associative operation
// COMBINE(a, b) and its IDENTITY. Each row is split into chunks of `chunk` elements, in scan order, which is backwards
// with `reverse`. Three launches: the total of each chunk, [outer][chunks][inner]; an exclusive scan of the totals of
// each row; a scan of each chunk. SUM is the C type of totals.
#define PLACE(k) ((long)(reverse ? length - 1 - (k) : (k)) * inner)

kernel void chunk_totals(global const DATA *restrict data, global SUM *restrict totals, const int length,
                         const int inner, const int chunks, const int chunk, const int reverse, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    data += (long)(item / inner / chunks) * length * inner + item % inner;
    const int start = item / inner % chunks * chunk, end = min(length, start + chunk);
    SUM sum = IDENTITY;
    for (int k = start; k < end; k++)
        sum = COMBINE(sum, (SUM)DATA_LOAD(data, PLACE(k)));
    totals[item] = sum;
}

// Replace the chunk totals of a row by their exclusive scan. sums[row] is the total of the row. One work-item per row.
kernel void scan_totals(global SUM *restrict totals, global SUM *restrict sums, const int inner, const int chunks,
                        const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    totals += (long)(item / inner) * chunks * inner + item % inner;
    SUM sum = IDENTITY;
    for (int i = 0; i < chunks; i++) {
        const SUM here = totals[i * inner];
        totals[i * inner] = sum;
        sum = COMBINE(sum, here);
    }
    sums[item] = sum;
}

// Scan each chunk, starting from before[item] if `has_before` is set, else from IDENTITY. One work-item per chunk.
kernel void scan_chunks(global const DATA *restrict data, global const SUM *restrict before, global DATA *restrict out,
                        const int length, const int inner, const int chunks, const int chunk, const int reverse,
                        const int exclusive, const int has_before, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    const long first = (long)(item / inner / chunks) * length * inner + item % inner;
    data += first;
    out += first;
    const int start = item / inner % chunks * chunk, end = min(length, start + chunk);
    SUM sum = IDENTITY;
    if (has_before)
        sum = before[item];
    for (int k = start; k < end; k++) {
        const SUM next = COMBINE(sum, (SUM)DATA_LOAD(data, PLACE(k)));
        DATA_STORE(exclusive ? sum : next, PLACE(k), out);
        sum = next;
    }
}
