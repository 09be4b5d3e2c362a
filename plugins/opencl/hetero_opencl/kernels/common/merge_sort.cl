// Stable merge sort along the middle axis of data [outer][length][inner]. Results are indices [row][length], where a
// row is one (outer, inner) pair; the values are moved along in a second buffer.

// Sort one run of elements by insertion. One work-item per run.
kernel void sort_runs(global const DATA *restrict data, global DATA *restrict values, global int *restrict order,
                      const int length, const int inner, const int descending, const int nan_first, const int run,
                      const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    const int runs = (length + run - 1) / run, row = item / runs, begin = item % runs * run;
    const int end = min(begin + run, length), start = row_start(row, length, inner);
    values += row * length;
    order += row * length;
    for (int next = begin; next < end; next++) {
        const DATA_VALUE value = DATA_LOAD(data, start + next * inner);
        int place = next;
        for (; place > begin; place--) {
            const DATA_VALUE before = DATA_LOAD(values, place - 1);
            if (!is_before(value, before, descending, nan_first))
                break;
            DATA_STORE(before, place, values);
            order[place] = order[place - 1];
        }
        DATA_STORE(value, place, values);
        order[place] = next;
    }
}

// Merge pairs of neighboring runs; only the first `limit` elements of a run matter. A work-item writes one chunk of the
// result: a binary search finds how many of the elements before the chunk come from the first run.
kernel void merge_runs(global const DATA *restrict values, global const int *restrict source,
                       global DATA *restrict values_out, global int *restrict target, const int length,
                       const int descending, const int nan_first, const int run, const int limit, const int chunk,
                       const int chunks, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    const int pairs = (length + 2 * run - 1) / (2 * run), row = item / chunks / pairs;
    const int begin = item / chunks % pairs * 2 * run, first = row * length + begin, second = first + run;
    const int first_count = min(min(run, limit), length - begin);
    const int second_count = clamp(length - begin - run, 0, min(run, limit));
    const int total = min(first_count + second_count, limit);
    const int written = item % chunks * chunk;
    int low = max(0, written - second_count), high = min(written, first_count);
    while (low < high) {
        const int middle = (low + high) / 2;
        const DATA_VALUE ahead = DATA_LOAD(values, second + written - 1 - middle);
        if (is_before(ahead, DATA_LOAD(values, first + middle), descending, nan_first))
            high = middle;
        else
            low = middle + 1;
    }
    int i = low, j = written - low;
    DATA_VALUE x = DATA_LOAD(values, first + min(i, first_count - 1)), y = x;
    if (j < second_count)
        y = DATA_LOAD(values, second + j);
    for (int place = written; place < min(total, written + chunk); place++) {
        if (i >= first_count || (j < second_count && is_before(y, x, descending, nan_first))) {
            DATA_STORE(y, first + place, values_out);
            target[first + place] = source[second + j++];
            if (j < second_count)
                y = DATA_LOAD(values, second + j);
        } else {
            DATA_STORE(x, first + place, values_out);
            target[first + place] = source[first + i++];
            if (i < first_count)
                x = DATA_LOAD(values, first + i);
        }
    }
}
