// TopK along the middle axis of data [outer][length][inner]; results are [outer][k][inner]. A row is one (outer, inner)
// pair.

// Position of element `index` of a row.
int position_of(const int row, const int index, const int length, const int inner)
{
    return (row / inner * length + index) * inner + row % inner;
}

// k = 1: the best element of each row, NaN above all, and the first of equal ones. `group` work-items share a row and
// combine their results in a tree reduction.
kernel void find_best(global const DATA *restrict data, global DATA *restrict values, global INDEX *restrict indices,
                      const int length, const int inner, const int descending, const int group, const int count)
{
    local DATA_VALUE group_values[64];
    local int group_indices[64];
    const int item = get_global_id(0), row = min(item, count - 1) / group, lane = item % group;
    const int own = get_local_id(0);
    DATA_VALUE best = DATA_LOAD(data, position_of(row, min(lane, length - 1), length, inner));
    int index = lane;
    for (int next = lane + group; next < length; next += group) {
        const DATA_VALUE value = DATA_LOAD(data, position_of(row, next, length, inner));
        if (best == best && (value != value || (descending ? value > best : value < best))) {
            best = value;
            index = next;
        }
    }
    group_values[own] = best;
    group_indices[own] = index;
    for (int others = group / 2; others; others /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < others) {
            const DATA_VALUE value = group_values[own + others];
            const int other = group_indices[own + others];
            const bool better = value != value ? best == best : descending ? value > best : value < best;
            const bool equal = value == best || (value != value && best != best);
            if (better || (equal && other < index)) {
                group_values[own] = best = value;
                group_indices[own] = index = other;
            }
        }
    }
    if (lane == 0 && item < count) {
        const int position = position_of(row, 0, 1, inner);
        DATA_STORE(best, position, values);
        indices[position] = index;
    }
}

// The first k elements of each row in sorted order, and their indices.
kernel void take_first(global const DATA *restrict data, global const int *restrict order, global DATA *restrict values,
                       global INDEX *restrict indices, const int length, const int inner, const int k, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    const int row = item / k, index = order[row * length + item % k], position = position_of(row, item % k, k, inner);
    DATA_STORE(DATA_LOAD(data, position_of(row, index, length, inner)), position, values);
    indices[position] = index;
}

// marks[row, i] = 1 if element i is among the first k in sorted order.
kernel void mark_first(global const int *restrict order, global int *restrict marks, const int length, const int k,
                       const int count)
{
    const int item = get_global_id(0);
    if (item < count)
        marks[item / k * length + order[item / k * length + item % k]] = 1;
}

// The marked elements of each row, in index order. `before` is the exclusive prefix sum of the marks.
kernel void take_marked(global const DATA *restrict data, global const int *restrict marks,
                        global const int *restrict before, global DATA *restrict values, global INDEX *restrict indices,
                        const int length, const int inner, const int k, const int count)
{
    const int item = get_global_id(0);
    if (item >= count || !marks[item])
        return;
    const int row = item / length, index = item % length;
    const int position = position_of(row, before[item] - row * k, k, inner);
    DATA_STORE(DATA_LOAD(data, position_of(row, index, length, inner)), position, values);
    indices[position] = index;
}
