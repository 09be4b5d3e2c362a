// Where values would have to be put into sorted sequences: before equal elements, or with `after` behind them. NaN is
// behind all else. There is one sequence for all rows of the values, or one for each.

// -1, 0 or 1 as x is less than y, equal or greater. A whole number that WIDE rounds to the other one is compared again.
int order(const SEQUENCE_VALUE x, const DATA_VALUE y)
{
    const WIDE a = x, b = y;
    if (a < b || (b != b && a == a))
        return -1;
    if (b < a || (a != a && b == b))
        return 1;
    const EXACT whole = CONVERT(x), other = CONVERT(y);
    return whole < other ? -1 : whole > other;
}

kernel void search(global const SEQUENCE *restrict sequences, global const DATA *restrict values,
                   global INDEX *restrict places, const int length, const int width, const int one_each,
                   const int after, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    const int start = one_each ? item / width * length : 0;
    const DATA_VALUE value = DATA_LOAD(values, item);
    int low = 0, high = length;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (order(SEQUENCE_LOAD(sequences, start + middle), value) < after)
            low = middle + 1;
        else
            high = middle;
    }
    places[item] = low;
}
