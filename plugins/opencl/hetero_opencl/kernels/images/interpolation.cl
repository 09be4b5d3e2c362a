// Resample data [outer][height][width] to [outer][out_height][out_width]: each result is a weighted sum of ROW_TAPS ×
// COLUMN_TAPS elements. An axis with 0 taps is not resampled. Tables of indices and weights are [tap][size]; without
// WEIGHTED there is one tap of weight 1. DATA and OUT are element types, SUM is the C type of weights and sums,
// FINISH(x) converts a sum to an element. Work-items are (column, row, outer), which needs no divisions.

#if WHOLE
// Without contraction, sums that end in a half are rounded in the same way on every device.
#pragma OPENCL FP_CONTRACT OFF
#endif

#if ROW_TAPS
#define ROW(tap) row_indices[(tap) * out_height + y]
#define ROW_WEIGHT(tap) row_weights[(tap) * out_height + y]
#else
#define ROW(tap) y
#define ROW_WEIGHT(tap) 1
#endif
#if COLUMN_TAPS
#define COLUMN(tap) column_indices[(tap) * out_width + x]
#define COLUMN_WEIGHT(tap) column_weights[(tap) * out_width + x]
#else
#define COLUMN(tap) x
#define COLUMN_WEIGHT(tap) 1
#endif

kernel void interpolation(global const DATA *restrict data, global OUT *restrict out,
#if ROW_TAPS
                          global const int *restrict row_indices,
#endif
#if ROW_TAPS && WEIGHTED
                          global const SUM *restrict row_weights,
#endif
#if COLUMN_TAPS
                          global const int *restrict column_indices,
#endif
#if COLUMN_TAPS && WEIGHTED
                          global const SUM *restrict column_weights,
#endif
                          const int height, const int width, const int out_height, const int out_width)
{
    const int x = get_global_id(0), y = get_global_id(1), outer = get_global_id(2);
    if (x >= out_width)
        return;
    data += (long)outer * height * width;
    out += ((long)outer * out_height + y) * out_width;
#if WEIGHTED
    SUM sum = 0;
    for (int i = 0; i < max(ROW_TAPS, 1); i++) {
        global const DATA *row = data + (long)ROW(i) * width;
        SUM part = 0;
        for (int j = 0; j < max(COLUMN_TAPS, 1); j++)
            part += COLUMN_WEIGHT(j) * DATA_LOAD(row, COLUMN(j));
        sum += ROW_WEIGHT(i) * part;
    }
    OUT_STORE(FINISH(sum), x, out);
#else
    OUT_STORE(DATA_LOAD(data + (long)ROW(0) * width, COLUMN(0)), x, out);
#endif
}
