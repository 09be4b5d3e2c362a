// Attention of few queries, for processors: an online softmax over tiles of keys, as in flash_attention.cl, whose
// macros and parameters it has.
//
// A work-item computes one query of one head. Vectors lie along the elements of a query, a key and a value, which are
// read once, where they are. The global size is (queries, batch), the local size (1, 1). The kernel reads up to 60
// bytes past the end of a row of the mask and of the values.
#define BLOCKS ((DEPTH) / 16)
#define PARTS (((WIDTH) + 15) / 16)

static inline float largest_of(const float16 x)
{
    const float8 eight = fmax(x.lo, x.hi);
    const float4 four = fmax(eight.lo, eight.hi);
    return fmax(fmax(four.x, four.y), fmax(four.z, four.w));
}

static inline float sum_of(const float16 x)
{
    const float8 eight = x.lo + x.hi;
    const float4 four = eight.lo + eight.hi;
    return (four.x + four.y) + (four.z + four.w);
}

#if ITEM_KIND
#define ITEM(row) ((row) < item_rows ? items[(row) * batch_items + item] : item)
#define KEY(row) ((row) * (long)key_row + ITEM(row) * (long)key_item)
#define VALUE(row) ((row) * (long)value_row + ITEM(row) * (long)value_item)
#else
#define KEY(row) ((row) * (long)key_row)
#define VALUE(row) ((row) * (long)value_row)
#endif

kernel void query_attention(global const DATA *restrict query, global const DATA *restrict key,
                            global const DATA *restrict content, global DATA *restrict result,
                            global const SCALE *restrict scale,
#if MASK_KIND == 1 || MASK_KIND == 2
                            global const MASK *restrict mask,
#endif
#if SINK_KIND
                            global const SINK *restrict sink,
#endif
#if ITEM_KIND
                            global const int *restrict items, const int item_rows, const int batch_items,
                            const int key_item, const int value_item,
#endif
                            PARAMETERS const int queries, const int keys, const int query_row, const int key_row,
                            const int value_row, const int mask_row, const int mask_step, const int sink_row)
{
    const int index = get_global_id(0), head = get_global_id(1);
    int rest = head, item = 0;
    long in_query = index * (long)query_row, in_key = 0, in_value = 0;
    long in_mask = index * (long)mask_row, in_sink = index * (long)sink_row;
    STEPS
    query += in_query;
    key += in_key;
    content += in_value;
    result += (head * (long)queries + index) * WIDTH;
    const float factor = SCALE_LOAD(scale, 0);

    float16 wanted[BLOCKS + 1], total[PARTS], sums = 0;
    #pragma unroll
    for (int d = 0; d < BLOCKS; d++) wanted[d] = DATA_LOAD16(query + 16 * d) * factor;
    #pragma unroll
    for (int n = 0; n < PARTS; n++) total[n] = 0;
#if SINK_KIND
    float highest = SINK_LOAD(sink, in_sink);
    sums.s0 = 1;
#else
    float highest = -INFINITY;
#endif

#if MASK_KIND == 3
    const int end = min(keys, index + 1);
#else
    const int end = keys;
#endif
    for (int start = 0; start < end; start += TILE) {
        const int count = min(TILE, end - start);
        float16 scores[TILE / 16], high = -INFINITY;
        for (int k = 0; k < count; k += 16) {
            float16 block[16];
            #pragma unroll
            for (int n = 0; n < 16; n++) {
                global const DATA *row = key + KEY(min(start + k + n, keys - 1));
                float16 part = 0;
                #pragma unroll
                for (int d = 0; d < BLOCKS; d++) part = part + wanted[d] * DATA_LOAD16(row + 16 * d);
#if DEPTH % 16
                for (int d = 16 * BLOCKS; d < DEPTH; d++)
                    part.s0 = part.s0 + DATA_LOAD(query, d) * factor * DATA_LOAD(row, d);
#endif
                block[n] = part;
            }
            transpose(block);
            #pragma unroll
            for (int step = 8; step > 0; step /= 2) {
                #pragma unroll
                for (int n = 0; n < step; n++) block[n] = block[n] + block[n + step];
            }
            float16 score = block[0];
#if MASK_KIND == 1
            const long at_mask = in_mask + (start + k) * (long)mask_step;
            score = score + (mask_step ? MASK_LOAD16(mask + at_mask) : (float16)(MASK_LOAD(mask, in_mask)));
#elif MASK_KIND == 2
            const long at_mask = in_mask + (start + k) * (long)mask_step;
            const int16 counts = convert_int16(mask_step ? MASK_LOAD16(mask + at_mask) : (uchar16)(mask[in_mask])) != 0;
            score = counts ? score : (float16)(-INFINITY);
#endif
            const int16 place = (int16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15) + (start + k);
            score = place < (int16)(end) ? score : (float16)(-INFINITY);
            scores[k / 16] = score;
            high = fmax(high, score);
        }
        const float before = highest;
        highest = fmax(highest, largest_of(high));
        const float offset = highest == -INFINITY ? 0 : highest;
        const float rescaling = exp_of_negative((float16)(before - offset)).s0;
        float weights[TILE];
        sums = sums * rescaling;
        for (int k = 0; k < count; k += 16) {
            const float16 weight = exp_of_negative(scores[k / 16] - offset);
            sums = sums + weight;
            vstore16(weight, 0, weights + k);
        }
        #pragma unroll
        for (int n = 0; n < PARTS; n++) total[n] = total[n] * rescaling;
        for (int k = 0; k < count; k++) {
            const float weight = weights[k];
            global const DATA *row = content + VALUE(start + k);
            #pragma unroll
            for (int n = 0; n < PARTS; n++) total[n] = total[n] + weight * DATA_LOAD16(row + 16 * n);
        }
    }

    const float sum = sum_of(sums);
    const float share = sum == 0 ? (keys ? EXCLUDED : 1) : 1 / sum;
    #pragma unroll
    for (int n = 0; n < PARTS; n++) {
        const float16 some = total[n] * share;
        if (WIDTH - 16 * n >= 16) {
            DATA_STORE16(some, result + 16 * n);
        } else {
            float last[16];
            vstore16(some, 0, last);
            for (int i = 0; i < WIDTH - 16 * n; i++) DATA_STORE(last[i], i, result + 16 * n);
        }
    }
}
