// Stable merge sort of the slices of data [outer][length][inner] along the middle axis, in lexicographic order. The
// result is their indices [length].

// Sort one run of indices by insertion. One work-item per run.
kernel void sort_runs(global const DATA *restrict data, global int *restrict order, const int length, const int inner,
                      const int slices, const int run, const int count)
{
    const int item = get_global_id(0), begin = item * run, end = min(begin + run, length);
    if (item >= count)
        return;
    for (int next = begin; next < end; next++) {
        int place = next;
        for (; place > begin && slice_is_before(data, slices, length, inner, next, order[place - 1]); place--)
            order[place] = order[place - 1];
        order[place] = next;
    }
}

// Merge pairs of neighboring runs. A work-item writes one chunk of the result: a binary search finds how many of the
// elements before the chunk come from the first run.
kernel void merge_runs(global const DATA *restrict data, global const int *restrict source, global int *restrict target,
                       const int length, const int inner, const int slices, const int run, const int chunk,
                       const int chunks, const int count)
{
    const int item = get_global_id(0), begin = item / chunks * 2 * run, written = item % chunks * chunk;
    if (item >= count)
        return;
    global const int *first = source + begin, *second = first + run;
    const int first_count = min(run, length - begin), second_count = clamp(length - begin - run, 0, run);
    const int total = first_count + second_count;
    int low = max(0, written - second_count), high = min(written, first_count);
    while (low < high) {
        const int middle = (low + high) / 2;
        if (slice_is_before(data, slices, length, inner, second[written - 1 - middle], first[middle]))
            high = middle;
        else
            low = middle + 1;
    }
    int i = low, j = written - low;
    for (int place = written; place < min(total, written + chunk); place++) {
        bool is_second_next = i >= first_count;
        if (!is_second_next && j < second_count)
            is_second_next = slice_is_before(data, slices, length, inner, second[j], first[i]);
        target[begin + place] = is_second_next ? second[j++] : first[i++];
    }
}
