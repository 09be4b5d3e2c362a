// Products of rows with a matrix of compressed weights, for GPUs; for the layout and the macros see compressed_gemm.cl.
//
// A work-item computes ROWS rows of a column. PARTS work-items share a column, each a part of its blocks, whose sums
// are added in local memory. The global size is (columns up to a multiple of LANES, PARTS, ceil(rows / ROWS)), the
// local size (LANES, PARTS, 1).

kernel void shared_compressed_gemm(global const A *restrict a, global const uint *restrict words,
                                   global const SCALE *restrict scales, global const ZERO *restrict zeros,
                                   global C *restrict c, const int rows, const int columns, const int depth
                                   EPILOGUE_PARAMETERS)
{
    local float parts[PARTS][ROWS][LANES];
    const int lane = get_local_id(0), part = get_local_id(1), row = get_global_id(2) * ROWS;
    const int column = get_global_id(0), panel = column / PANEL, place = column % PANEL;
    words += (long)panel * (depth / CODES) * PANEL + place;
    scales += (long)panel * (depth / BLOCK) * PANEL + place;
    zeros += ZERO_POINTS * ((long)panel * (depth / BLOCK) * PANEL + place);
    int at[ROWS];
    float total[ROWS];
    #pragma unroll
    for (int i = 0; i < ROWS; i++) {
        at[i] = min(row + i, rows - 1) * depth;
        total[i] = 0;
    }
    for (int start = part * STEP; start < depth; start += PARTS * STEP) {
        const int block = start / BLOCK * PANEL;
        const float scale = SCALE_LOAD(scales, block);
#if ZERO_POINTS
        const float zero = (float)ZERO_LOAD(zeros, block);
#else
        const float zero = ZERO_POINT;
#endif
        float sum[ROWS];
        #pragma unroll
        for (int i = 0; i < ROWS; i++) sum[i] = 0;
        for (int k = start; k < start + STEP; k += CODES) {
            uint word = words[k / CODES * PANEL];
            #pragma unroll
            for (int t = 0; t < CODES; t++) {
                const float code = (float)(word & MASK) - zero;
                word >>= BITS;
                #pragma unroll
                for (int i = 0; i < ROWS; i++) sum[i] += A_LOAD(a, at[i] + k + t) * code;
            }
        }
        #pragma unroll
        for (int i = 0; i < ROWS; i++) total[i] += scale * sum[i];
    }
    #pragma unroll
    for (int i = 0; i < ROWS; i++) parts[part][i][lane] = total[i];
    for (int half_parts = PARTS / 2; half_parts; half_parts /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (part < half_parts) {
            for (int i = 0; i < ROWS; i++) parts[part][i][lane] += parts[part + half_parts][i][lane];
        }
    }
    if (part || column >= columns) return;
    for (int i = 0; i < min(ROWS, rows - row); i++) {
        const int begin = (row + i) * columns + column;
        C_STORE(EPILOGUE(parts[0][i][lane], begin, column), begin, c);
    }
}
