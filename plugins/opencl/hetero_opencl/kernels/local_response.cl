// LRN: x / (bias + alpha * s) ^ beta, s the sum of squares in a window around each element, over one axis of
// [outer][length][inner] after the other. Sums over all axes before are in ``sums``; without SUMS there are none yet.
#ifdef SUMS
#define TERM(i) sums[i]
#else
#define TERM(i) (DATA_LOAD(data, i) * DATA_LOAD(data, i))
#endif

inline DATA_VALUE window_sum(global const DATA *data, global const DATA_VALUE *sums, const int i, const int size,
                             const int length, const int inner)
{
    const int place = i / inner % length;
    const int from = max(place - (size - 1) / 2, 0) - place, to = min(size / 2, length - 1 - place);
    DATA_VALUE sum = 0;
    for (int distance = from; distance <= to; distance++)
        sum += TERM(i + distance * inner);
    return sum;
}

kernel void window_sums(global const DATA *restrict data, global const DATA_VALUE *restrict sums,
                        global DATA_VALUE *restrict target, const int size, const int length, const int inner,
                        const int count)
{
    const int i = get_global_id(0);
    if (i < count)
        target[i] = window_sum(data, sums, i, size, length, inner);
}

kernel void normalize_responses(global const DATA *restrict data, global const DATA_VALUE *restrict sums,
                      global DATA *restrict out, const int size, const int length, const int inner,
                      const DATA_VALUE alpha, const DATA_VALUE beta, const DATA_VALUE bias, const int count)
{
    const int i = get_global_id(0);
    if (i >= count)
        return;
    const DATA_VALUE sum = window_sum(data, sums, i, size, length, inner);
    DATA_STORE(DATA_LOAD(data, i) / pow(alpha * sum + bias, beta), i, out);
}
