// Softmax of attention scores: exp(score * scale + mask - maximum), divided by the sum of the row. A row whose keys are
// all masked becomes zeros times EXCLUDED, 1 or NAN.
//
// SCORES: the type of scores and weights, which may share memory. They are [batch…, rows, keys], for `rows` queries
// from `first` on; the batch of the weights may be larger than that of scores. PARAMETERS are the length of each batch
// axis, with the strides of scores, mask and sink in elements; STEPS adds the offsets of batch `rest` to in_scores,
// in_mask and in_sink. MASK_KIND: 0 none; 1 numbers, which are added; 2 booleans, true for keys that count; 3 causal:
// keys up to the query. SINK_KIND 1: an additional score that counts only in the sum. GROUP work-items compute a row:
// each takes every GROUPth block of 16, then every GROUPth key of the rest. TRUTH16: the type of a comparison of 16
// values.
typedef SCORES value;
typedef VALUE(4) value4;
typedef VALUE(8) value8;
typedef VALUE(16) value16;

// The sum or the maximum of the values of all work-items of a group.
#define OF_GROUP(name, combined)                                    \
    static inline value name(value own, local value *all)           \
    {                                                               \
        const int lane = get_local_id(0);                           \
        for (int width = GROUP / 2; width > 0; width /= 2) {        \
            all[lane] = own;                                        \
            barrier(CLK_LOCAL_MEM_FENCE);                           \
            const value other = all[(lane + width) % GROUP];        \
            own = combined;                                         \
            barrier(CLK_LOCAL_MEM_FENCE);                           \
        }                                                           \
        return own;                                                 \
    }
OF_GROUP(largest_of_group, fmax(own, other))
OF_GROUP(sum_of_group, own + other)

// Terms added to the scores of one key and of 16 keys.
#define LOOKED_AT(condition) ((condition) ? (value)0 : (value)-INFINITY)
#define LOOKED_AT16(condition) ((condition) ? (value16)((value)0) : (value16)((value)-INFINITY))
#if MASK_KIND == 0
#define ADDED(key) 0
#define ADDED16(key) 0
#elif MASK_KIND == 1
#define ADDED(key) MASK_LOAD(mask, (key) * mask_step)
#define ADDED16(key) (mask_step ? MASK_LOAD16(mask + (key)) : (value16)(MASK_LOAD(mask, 0)))
#elif MASK_KIND == 2
#define ADDED(key) LOOKED_AT(MASK_LOAD(mask, (key) * mask_step))
#define ADDED16(key) LOOKED_AT16(CONVERT(mask_step ? MASK_LOAD16(mask + (key)) : (uchar16)(mask[0])) != 0)
#else
#define ADDED(key) LOOKED_AT((key) <= query)
#define ADDED16(key) \
    LOOKED_AT16(CONVERT((int16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15) + (key)) <= (TRUTH16)(query))
#endif

kernel void attention_weights(global const SCORES *scores, global SCORES *weights, global const SCALE *restrict scale,
#if MASK_KIND == 1 || MASK_KIND == 2
                              global const MASK *restrict mask,
#endif
#if SINK_KIND
                              global const SINK *restrict sink,
#endif
                              PARAMETERS const int rows, const int keys, const int mask_row, const int mask_step,
                              const int sink_row, const int first)
{
    local value shared[GROUP];
    const int row = get_group_id(0), lane = get_local_id(0);
    const int query = first + row % rows;
    int rest = row / rows;
    long in_scores = row % rows, in_mask = query * (long)mask_row, in_sink = query * (long)sink_row;
    STEPS
    scores += in_scores * keys;
    weights += (long)row * keys;
#if MASK_KIND == 1 || MASK_KIND == 2
    mask += in_mask;
#endif
    const value factor = SCALE_LOAD(scale, 0);
    const int blocks = keys / 16 * 16;

    value16 high = -INFINITY;
    for (int key = 16 * lane; key < blocks; key += 16 * GROUP) {
        const value16 score = vload16(0, scores + key) * factor + ADDED16(key);
        vstore16(score, 0, weights + key);
        high = fmax(high, score);
    }
    const value8 eight = fmax(high.lo, high.hi);
    const value4 four = fmax(eight.lo, eight.hi);
    value largest = fmax(fmax(four.x, four.y), fmax(four.z, four.w));
    for (int key = blocks + lane; key < keys; key += GROUP) {
        const value score = scores[key] * factor + ADDED(key);
        weights[key] = score;
        largest = fmax(largest, score);
    }
#if SINK_KIND
    largest = fmax(largest, SINK_LOAD(sink, in_sink));
#endif
    largest = largest_of_group(largest, shared);
    if (largest == -INFINITY) largest = 0;

    value16 sums = 0;
    for (int key = 16 * lane; key < blocks; key += 16 * GROUP) {
        const value16 power = exp(vload16(0, weights + key) - largest);
        vstore16(power, 0, weights + key);
        sums = sums + power;
    }
    const value8 eight_sums = sums.lo + sums.hi;
    const value4 four_sums = eight_sums.lo + eight_sums.hi;
    value sum = (four_sums.x + four_sums.y) + (four_sums.z + four_sums.w);
    for (int key = blocks + lane; key < keys; key += GROUP) {
        weights[key] = exp(weights[key] - largest);
        sum += weights[key];
    }
    sum = sum_of_group(sum, shared);
#if SINK_KIND
    sum += exp(SINK_LOAD(sink, in_sink) - largest);
#endif
    const value share = sum == 0 ? EXCLUDED : 1 / sum;
    for (int key = 16 * lane; key < blocks; key += 16 * GROUP) {
        vstore16(vload16(0, weights + key) * share, 0, weights + key);
    }
    for (int key = blocks + lane; key < keys; key += GROUP) weights[key] *= share;
}
