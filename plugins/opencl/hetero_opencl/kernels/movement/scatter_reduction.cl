// Combine rows of the data with their updates, in order. `result` holds the data before. `order` sorts the updates by
// target; the first work-item of each group with equal targets applies all of them, for one of the inner elements.
// COMBINE(a, b) combines two values; with MEAN 1 the result is divided by their number.
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
    const int position = target * inner + column;
    int applied = 0;
    DATA_VALUE total = DATA_LOAD(result, position);
    for (; next < update_count && targets[order[next]] == target; next++, applied++) {
        const DATA_VALUE update = DATA_LOAD(updates, order[next] * inner + column);
        total = applied || with_data ? COMBINE(total, update) : update;
    }
#if MEAN
    total /= applied + with_data;
#endif
    DATA_STORE(total, position, result);
}
