// Occurrences of the n-grams of a pool in each row of data [rows][length]. The n-grams of output i are grams_at[i] up
// to grams_at[i + 1]; the items of n-gram g are bounds[g] up to bounds[g + 1].
kernel void count_n_grams(global const DATA *restrict data, global const int *restrict grams_at,
                          global const int *restrict bounds, global const long *restrict items,
                          global const float *restrict weights, global float *restrict target, const int length,
                          const int outputs, const int shortest, const int longest, const int skips, const int count)
{
    const int item = get_global_id(0), output = item % outputs;
    if (item >= count)
        return;
    data += item / outputs * length;
    float sum = 0;
    for (int size = shortest; size <= longest; size++) {
        for (int step = 1; step <= (size == 1 ? 1 : skips + 1); step++) {
            for (int first = 0; first + (long)(size - 1) * step < length; first++) {
                for (int gram = grams_at[output]; gram < grams_at[output + 1]; gram++) {
                    bool is_same = bounds[gram + 1] - bounds[gram] == size;
                    for (int at = 0; at < size && is_same; at++)
                        is_same = DATA_LOAD(data, first + at * step) == items[bounds[gram] + at];
                    if (is_same)
                        sum = ADDED ? sum + weights[gram] : weights[gram];
                }
            }
        }
    }
    target[item] = sum;
}
