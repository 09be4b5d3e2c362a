// Updates combined, one after the other, with the row of the data that each goes to; result holds the data before. The
// first work-item of those that the order of targets puts together does this for all of them, for one of the inner
// elements. COMBINE(a, b) combines, and MEAN 1 divides by how many there were.
kernel void combine(global const DATA *restrict updates, global const int *restrict targets,
                    global const int *restrict order, global DATA *restrict result, const int inner,
                    const int update_count, const int with_data, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    int next = item / inner;
    const int target = targets[order[next]], column = item % inner;
    if (target < 0 || (next && targets[order[next - 1]] == target))
        return;
    const int place = target * inner + column;
    int combined = 0;
    DATA_VALUE total = DATA_LOAD(result, place);
    for (; next < update_count && targets[order[next]] == target; next++, combined++) {
        const DATA_VALUE update = DATA_LOAD(updates, order[next] * inner + column);
        total = combined || with_data ? COMBINE(total, update) : update;
    }
#if MEAN
    total /= combined + with_data;
#endif
    DATA_STORE(total, place, result);
}
