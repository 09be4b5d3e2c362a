// LRN: x / (bias + alpha * s) ^ beta, where s is the sum of squares in a window around each element, computed over one
// axis of [outer][length][inner] after the other. With SUMS, `sums` holds the sums over the previous axes. A work-item
// computes WIDTH neighbors along `inner`; the last ones overlap those before. POWER(x): x ^ beta.
#if WIDTH == 1
typedef DATA_VALUE VALUES;
#define LOAD(i) DATA_LOAD(data, i)
#define LOAD_SUM(i) sums[i]
#define STORE_SUM(value, i) target[i] = value
#define STORE(value, i) DATA_STORE(value, i, out)
#else
typedef DATA_VALUE16 VALUES;
#define LOAD(i) DATA_LOAD16(data + (i))
#define LOAD_SUM(i) vload16(0, sums + (i))
#define STORE_SUM(value, i) vstore16(value, 0, target + (i))
#define STORE(value, i) DATA_STORE16(value, out + (i))
#endif
#ifdef SUMS
#define TERM(i) LOAD_SUM(i)
#else
#define TERM(i) (LOAD(i) * LOAD(i))
#endif

static inline int first_element(const int item, const int inner)
{
    const int blocks = (inner + WIDTH - 1) / WIDTH;
    return item / blocks * inner + min(item % blocks * WIDTH, inner - WIDTH);
}

static inline VALUES window_sum(global const DATA *data, global const DATA_VALUE *sums, const int i, const int size,
                                const int length, const int inner)
{
    const int position = i / inner % length;
    const int from = max(position - (size - 1) / 2, 0) - position, to = min(size / 2, length - 1 - position);
    VALUES sum = 0;
    for (int distance = from; distance <= to; distance++)
        sum += TERM(i + distance * inner);
    return sum;
}

kernel void window_sums(global const DATA *restrict data, global const DATA_VALUE *restrict sums,
                        global DATA_VALUE *restrict target, const int size, const int length, const int inner,
                        const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    const int i = first_element(item, inner);
    STORE_SUM(window_sum(data, sums, i, size, length, inner), i);
}

kernel void normalize_responses(global const DATA *restrict data, global const DATA_VALUE *restrict sums,
                                global DATA *restrict out, const int size, const int length, const int inner,
                                const DATA_VALUE alpha, const DATA_VALUE beta, const DATA_VALUE bias, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    const int i = first_element(item, inner);
    const VALUES base = alpha * window_sum(data, sums, i, size, length, inner) + bias;
    const VALUES result = LOAD(i) / POWER(base);
    STORE(result, i);
}
