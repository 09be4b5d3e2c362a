// How often each n-gram of a pool comes in each row of data [rows][length]. grams_at tells for each place of the result
// where its n-grams begin among all; these have their weights, and with bounds their items.
kernel void count_n_grams(global const DATA *restrict data, global const int *restrict grams_at,
                          global const int *restrict bounds, global const long *restrict items,
                          global const float *restrict weights, global float *restrict target, const int length,
                          const int places, const int shortest, const int longest, const int skips, const int count)
{
    const int item = get_global_id(0), place = item % places;
    if (item >= count)
        return;
    data += item / places * length;
    float sum = 0;
    for (int size = shortest; size <= longest; size++) {
        for (int step = 1; step <= (size == 1 ? 1 : skips + 1); step++) {
            for (int first = 0; first + (long)(size - 1) * step < length; first++) {
                for (int gram = grams_at[place]; gram < grams_at[place + 1]; gram++) {
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
