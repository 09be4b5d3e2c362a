// Products of rows with a matrix of compressed weights: c[m][n] = EPILOGUE(sum over k of a[m][k] * b[k][n]), where
// b[k][n] = (code - zero point) * scale, with a scale and a zero point for each BLOCK of rows of a column of b.
//
// A word of 32 bits holds the codes of CODES rows of a column, of BITS each, the first one in its lowest bits; MASK has
// the bits of a code. Columns are in panels of PANEL = 16 * VECTORS: words are [panels, depth / CODES, PANEL], scales
// and zero points [panels, depth / BLOCK, PANEL]. STEP rows, a divisor of BLOCK, are summed before they are scaled, so
// that the sums of codes, which have no sign, stay small.
//
// A, C, SCALE: element types, each f32, f16 or bf16. ZERO: the element type of zero points, u8 or f32, if ZERO_POINTS
// is 1; if it is 0, all zero points are the number ZERO_POINT.
// EPILOGUE, ROWS and VECTORS: see packed_gemm.cl; its rules about reading past the end of a buffer hold here too.

// Compute the results of a tile. With `is_exact`, zero points are subtracted from each code, else from the sums, which
// is faster, but wrong if a sum is not finite.
static inline __attribute__((always_inline)) void sum_tile(
    global const A *restrict a, global const uint *restrict words, global const SCALE *restrict scales,
    global const ZERO *restrict zeros, const int *at, const int depth, const int is_exact,
    float16 total[ROWS][VECTORS])
{
    #pragma unroll
    for (int i = 0; i < ROWS; i++) {
        #pragma unroll
        for (int j = 0; j < VECTORS; j++) total[i][j] = 0;
    }
    for (int start = 0; start < depth; start += STEP) {
        const int block = start / BLOCK * PANEL;
        float16 sum[ROWS][VECTORS], zero[VECTORS];
        float factors[ROWS];
        #pragma unroll
        for (int j = 0; j < VECTORS; j++) {
#if ZERO_POINTS
            zero[j] = convert_float16(ZERO_LOAD16(zeros + block + 16 * j));
#else
            zero[j] = ZERO_POINT;
#endif
        }
        #pragma unroll
        for (int i = 0; i < ROWS; i++) {
            factors[i] = 0;
            #pragma unroll
            for (int j = 0; j < VECTORS; j++) sum[i][j] = 0;
        }
        for (int k = start; k < start + STEP; k += CODES) {
            uint16 word[VECTORS];
            #pragma unroll
            for (int j = 0; j < VECTORS; j++) word[j] = vload16(j, words);
            words += PANEL;
            #pragma unroll
            for (int t = 0; t < CODES; t++) {
                float factor[ROWS];
                #pragma unroll
                for (int i = 0; i < ROWS; i++) {
                    factor[i] = A_LOAD(a, at[i] + k + t);
                    factors[i] += factor[i];
                }
                #pragma unroll
                for (int j = 0; j < VECTORS; j++) {
                    // Processors convert signed integers faster.
                    float16 code = convert_float16(as_int16(word[j] & MASK));
                    if (is_exact) code = code - zero[j];
                    word[j] = word[j] >> BITS;
                    #pragma unroll
                    for (int i = 0; i < ROWS; i++) sum[i][j] = sum[i][j] + factor[i] * code;
                }
            }
        }
        #pragma unroll
        for (int j = 0; j < VECTORS; j++) {
            const float16 scale = SCALE_LOAD16(scales + block + 16 * j);
            #pragma unroll
            for (int i = 0; i < ROWS; i++) {
                if (!is_exact) sum[i][j] = sum[i][j] - zero[j] * factors[i];
                total[i][j] = total[i][j] + scale * sum[i][j];
            }
        }
    }
}

// A work-item computes ROWS rows and a panel in registers. Work-items with the same panel follow each other, so that it
// stays in the second-level cache. The global size is (ceil(rows / ROWS), panels, 1), the local size (1, 1, 1).
kernel void compressed_gemm(global const A *restrict a, global const uint *restrict words,
                            global const SCALE *restrict scales, global const ZERO *restrict zeros,
                            global C *restrict c, const int rows, const int columns, const int depth
                            EPILOGUE_PARAMETERS)
{
    const int row = get_global_id(0) * ROWS, panel = get_global_id(1), column = panel * PANEL;
    words += (long)panel * (depth / CODES) * PANEL;
    scales += (long)panel * (depth / BLOCK) * PANEL;
    zeros += ZERO_POINTS * (long)panel * (depth / BLOCK) * PANEL;
    // Rows past the end repeat the last one; they are not stored.
    int at[ROWS];
    #pragma unroll
    for (int i = 0; i < ROWS; i++) at[i] = min(row + i, rows - 1) * depth;

    float16 total[ROWS][VECTORS];
    sum_tile(a, words, scales, zeros, at, depth, 0, total);
    int are_finite = 1;
    #pragma unroll
    for (int i = 0; i < ROWS; i++) {
        #pragma unroll
        for (int j = 0; j < VECTORS; j++) are_finite &= all(isfinite(total[i][j]));
    }
    if (!are_finite) sum_tile(a, words, scales, zeros, at, depth, 1, total);
    #pragma nounroll
    for (int i = 0; i < min(ROWS, rows - row); i++) {
        #pragma nounroll
        for (int j = 0; j < VECTORS; j++) {
            const int begin = (row + i) * columns + column + 16 * j, left = columns - column - 16 * j;
            if (left <= 0) break;
            const float16 result = EPILOGUE(total[i][j], begin, column + 16 * j);
            if (left >= 16) {
                C_STORE16(result, c + begin);
            } else {
                float rest[16];
                vstore16(result, 0, rest);
                for (int n = 0; n < left; n++) C_STORE(rest[n], begin + n, c);
            }
        }
    }
}
