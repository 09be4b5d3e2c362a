// The order of elements along the middle of data [outer][length][inner], as their numbers: [row][length], a row being
// what lies across the middle. How they compare is told beside this file. Equal ones stay in their order.

// A work-item orders one run of numbers by insertion.
kernel void sort_runs(global const DATA *restrict data, global int *restrict order, const int length, const int inner,
                      const int slices, const int falls, const int nan_first, const int run, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    const int runs = (length + run - 1) / run, row = item / runs, begin = item % runs * run;
    const int end = min(begin + run, length);
    order += row * length;
    for (int next = begin; next < end; next++) {
        int place = next;
        while (place > begin &&
               comes_before(data, row, slices, length, inner, next, order[place - 1], falls, nan_first)) {
            order[place] = order[place - 1];
            place--;
        }
        order[place] = next;
    }
}

// Two neighbouring runs, of which the first `kept` numbers count, become one of twice the length. A work-item writes a
// piece of it: a binary search finds how many of those before the piece come from the first run.
kernel void merge_runs(global const DATA *restrict data, global const int *restrict source, global int *restrict target,
                       const int length, const int inner, const int slices, const int falls, const int nan_first,
                       const int run, const int kept, const int piece, const int pieces, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    const int pairs = (length + 2 * run - 1) / (2 * run), row = item / pieces / pairs;
    const int begin = item / pieces % pairs * 2 * run;
    global const int *first = source + row * length + begin, *second = first + run;
    target += row * length + begin;
    const int first_count = min(min(run, kept), length - begin);
    const int second_count = clamp(length - begin - run, 0, min(run, kept));
    const int total = min(first_count + second_count, kept);
    const int written = item % pieces * piece;
    int low = max(0, written - second_count), high = min(written, first_count);
    while (low < high) {
        const int middle = (low + high) / 2;
        const int ahead = second[written - 1 - middle];
        if (comes_before(data, row, slices, length, inner, ahead, first[middle], falls, nan_first))
            high = middle;
        else
            low = middle + 1;
    }
    int i = low, j = written - low;
    for (int place = written; place < min(total, written + piece); place++) {
        bool is_second_next = i >= first_count;
        if (!is_second_next && j < second_count)
            is_second_next = comes_before(data, row, slices, length, inner, second[j], first[i], falls, nan_first);
        target[place] = is_second_next ? second[j++] : first[i++];
    }
}
