// Batched matrix product with bias (gemm): c[m][n] = sum over k of a[m][k] * b[k][n], plus the bias.
//
// A work-item computes a tile of ROWS rows and VECTORS * 16 columns in registers, so that each element of b is used
// ROWS times and each element of a VECTORS * 16 times. Sums are written a * b + c, not mad() or fma(), because PoCL
// compiles these to slow calls.
//
// LEFT, RIGHT, RESULT: the element types of a, of b, and of c and the bias. SUM: the C type of sums, unsigned for
// integers, which wrap around. WIDEN_LEFT, WIDEN_RIGHT: convert 16 elements to SUM; NARROW: convert 16 sums to results.
// GROUP_ROWS, GROUP_COLUMNS: the tiles of a work-group; some may lie outside of c. PACKED: a is stored tile by tile,
// each as the ROWS elements of column 0, then those of column 1, …. BIAS: 0 none, 1 one number per row, 2 one per
// column. A batch has two axes, the inner one of length `inner`; a and b have a stride for each, c has one for both.
// With BIAS 1 each matrix along the inner axis has its own bias. Elements read past the end of a row or of b are never
// stored; buffers have slack for these reads.

__kernel __attribute__((reqd_work_group_size(GROUP_ROWS, GROUP_COLUMNS, 1)))
void product(__global const LEFT* restrict a, __global const RIGHT* restrict b,
#if BIAS
             __global const RESULT* restrict bias,
#endif
             __global RESULT* restrict c, const int rows, const int columns, const int depth, const int inner,
             const int a_outer, const int a_inner, const int b_outer, const int b_inner,
             const int a_offset, const int b_offset, const int c_offset, const int c_batch,
             const int a_row, const int a_step)
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
        for (int j = 0; j < VECTORS; j++) {
#if BIAS == 1
            sum[i][j] = (SUM16)((SUM)RESULT_LOAD(bias, matrix * rows + min(row + i, rows - 1)));
#elif BIAS == 2
            sum[i][j] = WIDEN_RESULT(RESULT_LOAD16(bias + column + 16 * j));
#else
            sum[i][j] = (SUM16)((SUM)0);
#endif
        }
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

    c += c_offset + batch * (long)c_batch + column;
    const int width = columns - column;
    #pragma unroll
    for (int i = 0; i < ROWS; i++) {
        if (row + i < rows) {
            __global RESULT* out = c + (long)(row + i) * columns;
            #pragma unroll
            for (int j = 0; j < VECTORS; j++) {
                if (width >= 16 * (j + 1)) {
                    RESULT_STORE16(NARROW(sum[i][j]), out + 16 * j);
                } else {
                    const SUM rest[16] = {
                        sum[i][j].s0, sum[i][j].s1, sum[i][j].s2, sum[i][j].s3, sum[i][j].s4, sum[i][j].s5,
                        sum[i][j].s6, sum[i][j].s7, sum[i][j].s8, sum[i][j].s9, sum[i][j].sa, sum[i][j].sb,
                        sum[i][j].sc, sum[i][j].sd, sum[i][j].se, sum[i][j].sf};
                    for (int n = 16 * j; n < width; n++) RESULT_STORE(rest[n - 16 * j], n, out);
                }
            }
        }
    }
}

// Matrix-vector product (gemv), one work-item per element of c. a is stored in row-major order.
__kernel void matrix_by_vector(__global const LEFT* restrict a, __global const RIGHT* restrict b,
#if BIAS
                               __global const RESULT* restrict bias,
#endif
                               __global RESULT* restrict c, const int rows, const int columns, const int depth,
                               const int inner, const int a_outer, const int a_inner, const int b_outer,
                               const int b_inner, const int a_offset, const int b_offset, const int c_offset,
                               const int c_batch, const int count)
{
    const int i = get_global_id(0);
    if (i >= count) return;
    const int row = i % rows;
    const int batch = i / rows;
    const int outer = batch / inner;
    const int matrix = batch - outer * inner;
    a += a_offset + outer * (long)a_outer + matrix * (long)a_inner + row * (long)depth;
    b += b_offset + outer * (long)b_outer + matrix * (long)b_inner;
    SUM16 sums = (SUM16)((SUM)0);
    int k = 0;
    for (; k + 16 <= depth; k += 16) sums = sums + WIDEN_LEFT(LEFT_LOAD16(a + k)) * WIDEN_RIGHT(RIGHT_LOAD16(b + k));
    const SUM8 eight = sums.lo + sums.hi;
    const SUM4 four = eight.lo + eight.hi;
    SUM sum = (four.x + four.y) + (four.z + four.w);
    for (; k < depth; k++) sum += (SUM)LEFT_LOAD(a, k) * (SUM)RIGHT_LOAD(b, k);
#if BIAS == 1
    sum += (SUM)RESULT_LOAD(bias, matrix * rows + row);
#elif BIAS == 2
    sum += (SUM)RESULT_LOAD(bias, 0);
#endif
    RESULT_STORE(sum, c_offset + batch * (long)c_batch + row, c);
}
