// Where values would have to be put into sorted sequences: before equal elements, or with `after` behind them. NaN is
// behind all else. There is one sequence for all rows of the values, or one for each.
kernel void search(global const LEFT *restrict sequences, global const RIGHT *restrict values,
                   global INDEX *restrict places, const int length, const int width, const int one_each,
                   const int after, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    const int start = one_each ? item / width * length : 0;
    const RIGHT_VALUE value = RIGHT_LOAD(values, item);
    int low = 0, high = length;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (compare(LEFT_LOAD(sequences, start + middle), value) < after)
            low = middle + 1;
        else
            high = middle;
    }
    places[item] = low;
}
