// Batched matrix product (gemm): c[m][n] = sum over k of a[m][k] * b[k][n], then the epilogue (see epilogue.py).
// Of processors, with one work-item in a group, and of GPUs for packed a that fill them; see group_gemm.cl for others.
//
// A work-item computes a tile of ROWS rows and VECTORS * 16 columns in registers, so that each element of b is used
// ROWS times and each element of a VECTORS * 16 times. Sums are written a * b + c, not mad() or fma(), because PoCL
// compiles these to slow calls.
//
// LEFT, RIGHT, RESULT: the element types of a, of b and of c. SUM: the C type of sums, unsigned for
// integers, which wrap around. WIDEN_LEFT, WIDEN_RIGHT: convert 16 elements to SUM; NARROW: convert 16 sums to results.
// PACKED: a is stored tile by tile, each as the ROWS elements of column 0, then those of column 1, …. A batch has two
// axes, the inner one of length `inner`; a and b have a stride for each, c has one for both. CHANNEL(row, column):
// which of both is the channel of an element of c; each matrix along the inner axis has rows of its own. Elements
// read past the end of a row or of b are never stored; buffers have slack for these reads.

kernel void gemm(__global const LEFT* restrict a, __global const RIGHT* restrict b,
                 __global RESULT* restrict c, const int rows, const int columns, const int depth, const int inner,
                 const int a_outer, const int a_inner, const int b_outer, const int b_inner,
                 const int a_offset, const int b_offset, const int c_offset, const int c_batch,
                 const int a_row, const int a_step EPILOGUE_PARAMETERS)
{
    const int tile = get_global_id(0);
    const int row = tile * ROWS;
    const int column = get_global_id(1) * VECTORS * 16;
    const int batch = get_global_id(2);
    const int outer = batch / inner;
    const int matrix = batch - outer * inner;
    if (row >= rows || column >= columns) return;

    a += a_offset + outer * (long)a_outer + matrix * (long)a_inner;
    b += b_offset + outer * (long)b_outer + matrix * (long)b_inner + column;
#if PACKED
    a += (long)tile * depth * ROWS;
#else
    int at[ROWS];
    #pragma unroll
    for (int i = 0; i < ROWS; i++) at[i] = min(row + i, rows - 1) * a_row;
#endif

    SUM16 sum[ROWS][VECTORS];
    #pragma unroll
    for (int i = 0; i < ROWS; i++) {
        #pragma unroll
        for (int j = 0; j < VECTORS; j++) sum[i][j] = (SUM16)((SUM)0);
    }

    for (int k = 0; k < depth; k++) {
        SUM16 line[VECTORS];
        #pragma unroll
        for (int j = 0; j < VECTORS; j++) line[j] = WIDEN_RIGHT(RIGHT_LOAD16(b + 16 * j));
        #pragma unroll
        for (int i = 0; i < ROWS; i++) {
#if PACKED
            const SUM factor = LEFT_LOAD(a, i);
#else
            const SUM factor = LEFT_LOAD(a, at[i]);
#endif
            #pragma unroll
            for (int j = 0; j < VECTORS; j++) sum[i][j] = sum[i][j] + factor * line[j];
        }
#if PACKED
        a += ROWS;
#else
        a += a_step;
#endif
        b += columns;
    }

    const int first = c_offset + batch * c_batch + column;
    c += first;
    const int width = columns - column;
    // Through memory, so that the epilogue is in the code once and it compiles faster.
    SUM16 results[ROWS][VECTORS];
    #pragma unroll
    for (int i = 0; i < ROWS; i++) {
        #pragma unroll
        for (int j = 0; j < VECTORS; j++)
            results[i][j] = sum[i][j];
    }
    #pragma nounroll
    for (int i = 0; i < min(ROWS, rows - row); i++) {
        __global RESULT* out = c + (long)(row + i) * columns;
        #pragma nounroll
        for (int j = 0; j < VECTORS; j++) {
            const int index = first + (row + i) * columns + 16 * j;
            const SUM16 v = EPILOGUE(results[i][j], index, CHANNEL(matrix * rows + row + i, column + 16 * j));
            if (width >= 16 * (j + 1)) {
                RESULT_STORE16(NARROW(v), out + 16 * j);
            } else {
                const SUM rest[16] = {v.s0, v.s1, v.s2, v.s3, v.s4, v.s5, v.s6, v.s7,
                                      v.s8, v.s9, v.sa, v.sb, v.sc, v.sd, v.se, v.sf};
                for (int n = 16 * j; n < width; n++) RESULT_STORE(rest[n - 16 * j], n, out);
            }
        }
    }
}
