// Attention without the score matrix in memory, for processors: an online softmax over tiles of keys (Milakov and
// Gimelshein 2018; Dao et al., FlashAttention, 2022).
//
// A work-item computes 16 * VECTORS queries of one head. Vectors lie along queries: the queries are transposed once,
// elements of keys and values are read one by one as they are, and maxima and sums need no reduction across a vector.
// Scores and results are computed ROWS vectors of keys or of value columns at a time, in registers. The global size is
// (ceil(queries / (16 * VECTORS)), batch), the local size (1, 1).
//
// DATA: the element type of queries, keys, values and results; DEPTH: the length of a query and a key, WIDTH that of a
// value. TILE: keys in a tile, a multiple of ROWS and of 16. PARAMETERS are the length of each batch axis,
// with the strides of queries, keys, values, mask and sink in elements; STEPS adds the offsets of batch `rest` to
// in_query, in_key, in_value, in_mask and in_sink. *_row: elements from one query, key or value to the next.
// MASK_KIND: 0 none; 1 numbers, which are added; 2 booleans, true for keys that count; 3 causal: keys up to the query.
// ITEM_KIND 1: rows of keys and values have the items of the batch in another order, as ChooseItems says.
// SINK_KIND 1: an additional score that counts only in the sum. A query whose keys are all masked gets zeros
// times EXCLUDED, 1 or NAN.
// exp_of_negative is in exponential.cl. The kernel reads up to 60 bytes past the end of a row of queries, of the mask
// and of the values.
#define LANES (16 * VECTORS)
#define EACH_VECTOR for (int j = 0; j < VECTORS; j++)
// A statement for each of the vectors that are computed at a time.
#define EACH_OF_TILE(statement)       \
    _Pragma("unroll")                 \
    for (int i = 0; i < ROWS; i++) {  \
        _Pragma("unroll")             \
        EACH_VECTOR statement;        \
    }

#if ITEM_KIND
#define ITEM(row) ((row) < item_rows ? items[(row) * batch_items + item] : item)
#define KEY(row) ((row) * key_row + ITEM(row) * key_item)
#define VALUE(row) ((row) * value_row + ITEM(row) * value_item)
#else
#define KEY(row) ((row) * key_row)
#define VALUE(row) ((row) * value_row)
#endif

kernel void flash_attention(global const DATA *restrict query, global const DATA *restrict key,
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
    const int first = get_global_id(0) * LANES, head = get_global_id(1);
    int rest = head, item = 0;
    long in_query = 0, in_key = 0, in_value = 0, in_mask = 0, in_sink = 0;
    STEPS
    query += in_query;
    key += in_key;
    content += in_value;
    result += (head * (long)queries + first) * WIDTH;
    const float factor = SCALE_LOAD(scale, 0);

    float16 across[(DEPTH + 15) / 16 * 16][VECTORS], scores[TILE][VECTORS];
    float16 total[(WIDTH + ROWS + 15) / 16 * 16][VECTORS], highest[VECTORS], sum[VECTORS];
    EACH_VECTOR {
        for (int d = 0; d < DEPTH; d += 16) {
            float16 block[16];
            for (int n = 0; n < 16; n++)
                block[n] = DATA_LOAD16(query + min(first + 16 * j + n, queries - 1) * query_row + d) * factor;
            transpose(block);
            for (int n = 0; n < 16; n++) across[d + n][j] = block[n];
        }
        for (int n = 0; n < WIDTH + ROWS; n++) total[n][j] = 0;
#if SINK_KIND
        float of_lane[16];
        for (int n = 0; n < 16; n++)
            of_lane[n] = SINK_LOAD(sink, in_sink + min(first + 16 * j + n, queries - 1) * (long)sink_row);
        highest[j] = vload16(0, of_lane);
        sum[j] = 1;
#else
        highest[j] = -INFINITY;
        sum[j] = 0;
#endif
    }

#if MASK_KIND == 3
    const int end = min(keys, first + LANES);  // the keys up to the last query
#else
    const int end = keys;
#endif
    for (int start = 0; start < end; start += TILE) {
        const int count = min(TILE, end - start);
        float16 before[VECTORS];
        EACH_VECTOR before[j] = highest[j];
        for (int k = 0; k < count; k += ROWS) {
            int at[ROWS];
            #pragma unroll
            for (int i = 0; i < ROWS; i++) at[i] = KEY(min(start + k + i, keys - 1));
            float16 score[ROWS][VECTORS];
            EACH_OF_TILE(score[i][j] = 0)
            #pragma unroll 4
            for (int d = 0; d < DEPTH; d++) {
                #pragma unroll
                for (int i = 0; i < ROWS; i++) {
                    const float element = DATA_LOAD(key, at[i] + d);
                    #pragma unroll
                    EACH_VECTOR score[i][j] = score[i][j] + element * across[d][j];
                }
            }
            EACH_OF_TILE(scores[k + i][j] = score[i][j])
        }
#if MASK_KIND == 1 || MASK_KIND == 2
#if MASK_KIND == 1
#define TERM(x) (x)
#else
#define TERM(x) (convert_int16(x) != 0 ? (float16)(0) : (float16)(-INFINITY))
#endif
        if (mask_row == 0) {
            for (int k = 0; k < count; k++) {
                const float16 added = TERM((MASK_VALUE16)(MASK_LOAD(mask, in_mask + (start + k) * mask_step)));
                EACH_VECTOR scores[k][j] = scores[k][j] + added;
            }
        } else {
            EACH_VECTOR {
                for (int k = 0; k < count; k += 16) {
                    float16 block[16];
                    for (int n = 0; n < 16; n++) {
                        global const MASK *row =
                            mask + in_mask + min(first + 16 * j + n, queries - 1) * (long)mask_row;
                        block[n] = mask_step ? TERM(MASK_LOAD16(row + start + k))
                                             : TERM((MASK_VALUE16)(MASK_LOAD(row, 0)));
                    }
                    transpose(block);
                    for (int n = 0; n < 16; n++) scores[k + n][j] = scores[k + n][j] + block[n];
                }
            }
        }
#elif MASK_KIND == 3
        EACH_VECTOR {
            const int16 lane = (int16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15) + (first + 16 * j);
            if (start + count > first + 16 * j)
                for (int k = 0; k < count; k++)
                    scores[k][j] = (int16)(start + k) <= lane ? scores[k][j] : (float16)(-INFINITY);
        }
#endif
        float16 offset[VECTORS], rescaling[VECTORS];
        EACH_VECTOR {
            for (int k = 0; k < count; k++) highest[j] = fmax(highest[j], scores[k][j]);
            offset[j] = highest[j] == -INFINITY ? (float16)(0) : highest[j];
            rescaling[j] = exp_of_negative(before[j] - offset[j]);
            sum[j] = sum[j] * rescaling[j];
        }
        for (int k = 0; k < count; k++) {
            EACH_VECTOR {
                const float16 weight = exp_of_negative(scores[k][j] - offset[j]);
                scores[k][j] = weight;
                sum[j] = sum[j] + weight;
            }
        }
        for (int n = 0; n < WIDTH; n += ROWS) {
            float16 part[ROWS][VECTORS];
            EACH_OF_TILE(part[i][j] = total[n + i][j] * rescaling[j])
            #pragma unroll 4
            for (int k = 0; k < count; k++) {
                #pragma unroll
                for (int i = 0; i < ROWS; i++) {
                    const float element = DATA_LOAD(content, VALUE(start + k) + n + i);
                    #pragma unroll
                    EACH_VECTOR part[i][j] = part[i][j] + element * scores[k][j];
                }
            }
            EACH_OF_TILE(total[n + i][j] = part[i][j])
        }
    }

    EACH_VECTOR {
        const float16 share = sum[j] == 0 ? (float16)(keys ? EXCLUDED : 1) : 1 / sum[j];
        for (int d = 0; d < WIDTH; d += 16) {
            float16 block[16];
            for (int n = 0; n < 16; n++) block[n] = total[d + n][j] * share;
            transpose(block);
            for (int n = 0; n < min(16, queries - first - 16 * j); n++) {
                global DATA *row = result + (16 * j + n) * WIDTH + d;
                if (WIDTH - d >= 16) {
                    DATA_STORE16(block[n], row);
                } else {
                    float some[16];
                    vstore16(block[n], 0, some);
                    for (int i = 0; i < WIDTH - d; i++) DATA_STORE(some[i], i, row);
                }
            }
        }
    }
}
