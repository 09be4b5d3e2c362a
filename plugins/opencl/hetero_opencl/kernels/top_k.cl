// The best elements of rows across the middle of data [outer][length][inner], written across [outer][k][inner].

// Where element `number` of a row lies.
int place_in(const int row, const int number, const int length, const int inner)
{
    return (row / inner * length + number) * inner + row % inner;
}

// The best element of each row, NaN above all, and of equal ones the first: found by so many work-items together, of
// which the others hand theirs to the first, halving their number each time.
kernel void find_best(global const DATA *restrict data, global DATA *restrict values, global INDEX *restrict numbers,
                      const int length, const int inner, const int falls, const int together, const int count)
{
    local DATA_VALUE values_found[64];
    local int numbers_found[64];
    const int item = get_global_id(0), row = min(item, count - 1) / together, lane = item % together;
    const int own = get_local_id(0);
    DATA_VALUE best = DATA_LOAD(data, place_in(row, min(lane, length - 1), length, inner));
    int number = lane;
    for (int next = lane + together; next < length; next += together) {
        const DATA_VALUE value = DATA_LOAD(data, place_in(row, next, length, inner));
        if (best == best && (value != value || (falls ? value > best : value < best))) {
            best = value;
            number = next;
        }
    }
    values_found[own] = best;
    numbers_found[own] = number;
    for (int others = together / 2; others; others /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < others) {
            const DATA_VALUE value = values_found[own + others];
            const int other = numbers_found[own + others];
            const bool better = value != value ? best == best : falls ? value > best : value < best;
            const bool equal = value == best || (value != value && best != best);
            if (better || (equal && other < number)) {
                values_found[own] = best = value;
                numbers_found[own] = number = other;
            }
        }
    }
    if (lane == 0 && item < count) {
        const int place = place_in(row, 0, 1, inner);
        DATA_STORE(best, place, values);
        numbers[place] = number;
    }
}

// The first k of the numbers in the order of each row, and the elements that have them.
kernel void take_first(global const DATA *restrict data, global const int *restrict order, global DATA *restrict values,
                       global INDEX *restrict numbers, const int length, const int inner, const int k, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    const int row = item / k, number = order[row * length + item % k], place = place_in(row, item % k, k, inner);
    DATA_STORE(DATA_LOAD(data, place_in(row, number, length, inner)), place, values);
    numbers[place] = number;
}

// A 1 for each element, in rows, that is among the first k of its row.
kernel void mark_first(global const int *restrict order, global int *restrict marks, const int length, const int k,
                       const int count)
{
    const int item = get_global_id(0);
    if (item < count)
        marks[item / k * length + order[item / k * length + item % k]] = 1;
}

// The marked elements of each row in their own order; before tells how many of all rows come before each.
kernel void take_marked(global const DATA *restrict data, global const int *restrict marks,
                        global const int *restrict before, global DATA *restrict values, global INDEX *restrict numbers,
                        const int length, const int inner, const int k, const int count)
{
    const int item = get_global_id(0);
    if (item >= count || !marks[item])
        return;
    const int row = item / length, number = item % length;
    const int place = place_in(row, before[item] - row * k, k, inner);
    DATA_STORE(DATA_LOAD(data, place_in(row, number, length, inner)), place, values);
    numbers[place] = number;
}
