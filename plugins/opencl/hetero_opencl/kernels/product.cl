// The product of matrices, c[m][n] = sum over k of a[m][k] * b[k][n], plus a bias, for a batch of them.
//
// One work-item computes a tile of ROWS rows and VECTORS * 16 columns, all of it in registers, so that each number read
// from b serves ROWS times and each from a VECTORS * 16 times. It is written a * b + c, and not as mad() or fma(),
// because PoCL makes slow calls of these.
//
// GROUP_ROWS, GROUP_COLUMNS: tiles that work-items of a group compute; there may be more than are needed.
// PACKED: a is stored tile by tile, in each the ROWS numbers of column 0, then those of column 1, ….
// BIAS: 0 none, 1 a number for each row, 2 a number for each column.
// What is read past the end of a row or of b does no harm, since every buffer has slack and it is never stored.

__kernel __attribute__((reqd_work_group_size(GROUP_ROWS, GROUP_COLUMNS, 1)))
void product(__global const float* restrict a, __global const float* restrict b,
#if BIAS
             __global const float* restrict bias,
#endif
             __global float* restrict c, const int rows, const int columns, const int depth,
             const int a_row, const int a_step, const int a_batches, const int a_batch, const int b_batch,
             const int a_offset, const int b_offset, const int c_offset)
{
    const int tile = get_global_id(0);
    const int row = tile * ROWS;
    const int column = get_global_id(1) * VECTORS * 16;
    const int batch = get_global_id(2);
    const int matrix = batch % a_batches;
    if (row >= rows || column >= columns) return;

    a += a_offset + matrix * (long)a_batch;
    b += b_offset + batch * (long)b_batch + column;
#if PACKED
    a += (long)tile * depth * ROWS;
#else
    int at[ROWS];
    #pragma unroll
    for (int i = 0; i < ROWS; i++) at[i] = min(row + i, rows - 1) * a_row;
#endif

    float16 sum[ROWS][VECTORS];
    #pragma unroll
    for (int i = 0; i < ROWS; i++) {
        #pragma unroll
        for (int j = 0; j < VECTORS; j++) {
#if BIAS == 1
            sum[i][j] = (float16)(bias[matrix * rows + min(row + i, rows - 1)]);
#elif BIAS == 2
            sum[i][j] = vload16(j, bias + column);
#else
            sum[i][j] = (float16)(0.0f);
#endif
        }
    }

    for (int k = 0; k < depth; k++) {
        float16 line[VECTORS];
        #pragma unroll
        for (int j = 0; j < VECTORS; j++) line[j] = vload16(j, b);
        #pragma unroll
        for (int i = 0; i < ROWS; i++) {
#if PACKED
            const float factor = a[i];
#else
            const float factor = a[at[i]];
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

    c += c_offset + batch * (long)rows * columns + column;
    const int width = columns - column;
    #pragma unroll
    for (int i = 0; i < ROWS; i++) {
        if (row + i < rows) {
            __global float* out = c + (long)(row + i) * columns;
            #pragma unroll
            for (int j = 0; j < VECTORS; j++) {
                if (width >= 16 * (j + 1)) {
                    vstore16(sum[i][j], j, out);
                } else {
                    const float rest[16] = {
                        sum[i][j].s0, sum[i][j].s1, sum[i][j].s2, sum[i][j].s3, sum[i][j].s4, sum[i][j].s5,
                        sum[i][j].s6, sum[i][j].s7, sum[i][j].s8, sum[i][j].s9, sum[i][j].sa, sum[i][j].sb,
                        sum[i][j].sc, sum[i][j].sd, sum[i][j].se, sum[i][j].sf};
                    for (int n = 16 * j; n < width; n++) out[n] = rest[n - 16 * j];
                }
            }
        }
    }
}

// The same for one column, one number of c a work-item; a is stored row by row.
__kernel void matrix_by_vector(__global const float* restrict a, __global const float* restrict b,
#if BIAS
                               __global const float* restrict bias,
#endif
                               __global float* restrict c, const int rows, const int depth,
                               const int a_batches, const int a_batch, const int b_batch, const int count)
{
    const int i = get_global_id(0);
    if (i >= count) return;
    const int row = i % rows;
    const int batch = i / rows;
    const int matrix = batch % a_batches;
    a += matrix * (long)a_batch + row * (long)depth;
    b += batch * (long)b_batch;
    float16 sums = (float16)(0.0f);
    int k = 0;
    for (; k + 16 <= depth; k += 16) sums = sums + vload16(0, a + k) * vload16(0, b + k);
    const float8 eight = sums.lo + sums.hi;
    const float4 four = eight.lo + eight.hi;
    float sum = (four.x + four.y) + (four.z + four.w);
    for (; k < depth; k++) sum += a[k] * b[k];
#if BIAS == 1
    sum += bias[matrix * rows + row];
#elif BIAS == 2
    sum += bias[0];
#endif
    c[i] = sum;
}

// Each of a batch of matrices [rows][columns] as [columns][rows].
__kernel void transposed(__global const float* restrict from, __global float* restrict to, const int rows,
                         const int columns, const int count)
{
    const int i = get_global_id(0);
    if (i >= count) return;
    const int row = i % rows;
    const int column = i / rows % columns;
    const int batch = i / rows / columns;
    to[i] = from[(batch * (long)rows + row) * columns + column];
}
