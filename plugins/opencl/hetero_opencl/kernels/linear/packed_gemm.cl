// Batched matrix product (gemm) for CPU-like devices: c[m][n] = EPILOGUE(sum over k of a[m][k] * b[k][n]).
//
// A work-item computes a tile of ROWS rows and VECTORS * 16 columns in registers. Work-items with the same columns
// follow each other, so that their panel of b stays in the second-level cache. Sums are written a * b + c, not mad() or
// fma(), because PoCL compiles these to slow calls. The global size is
// (ceil(rows / ROWS), ceil(columns / (16 * VECTORS)), batches), the local size (1, 1, 1).
//
// A, B, C: element types, each f32, f16 or bf16. Sums are f32. ROWS, VECTORS: see packed_gemm.py.
//
// Row m of a begins at m * a_row. Panel p of b, the columns from p * VECTORS * 16 on, begins at p * b_panel, and its
// row k at k * b_row after that:
//     packed by pack_columns or pack_panels:  b_panel = depth * 16 * VECTORS, b_row = 16 * VECTORS
//     row by row:                             b_panel = 16 * VECTORS,         b_row = columns
// A batch has two axes, the inner one of length `inner`; a and b have a stride for each, in elements, and matrices of c
// follow each other. a and b begin at a_offset and b_offset, c at c_offset.
//
// EPILOGUE(v, at, column) is an expression for the 16 results: `v` are their sums, `at` is the index of the first one
// in c, `column` its column. EPILOGUE_PARAMETERS declares further kernel parameters, with a leading comma. Up to 15 of
// the results are past the end of the row; they are not stored. So EPILOGUE may read 60 bytes (of f32) past the end of
// a buffer, and the kernel itself reads less than 64 * VECTORS bytes past the end of b.

#ifndef EPILOGUE
#define EPILOGUE(v, at, column) (v)
#define EPILOGUE_PARAMETERS
#endif
#define PANEL (16 * VECTORS)

kernel void packed_gemm(global const A *restrict a, global const B *restrict b, global C *restrict c, const int rows,
                        const int columns, const int depth, const int a_row, const int b_panel, const int b_row,
                        const int inner, const int a_outer, const int a_inner, const int b_outer, const int b_inner,
                        const int a_offset, const int b_offset, const int c_offset EPILOGUE_PARAMETERS)
{
    const int row = get_global_id(0) * ROWS, column = get_global_id(1) * PANEL, batch = get_global_id(2);
    const int outer = batch / inner, matrix = batch - outer * inner;
    a += a_offset + outer * (long)a_outer + matrix * (long)a_inner;
    b += b_offset + outer * (long)b_outer + matrix * (long)b_inner + get_global_id(1) * (long)b_panel;
    // Rows past the end repeat the last one; they are not stored.
    int at[ROWS];
    #pragma unroll
    for (int i = 0; i < ROWS; i++) at[i] = min(row + i, rows - 1) * a_row;

    float16 sum[ROWS][VECTORS];
    #pragma unroll
    for (int i = 0; i < ROWS; i++) {
        #pragma unroll
        for (int j = 0; j < VECTORS; j++) sum[i][j] = 0;
    }
    #pragma unroll 4
    for (int k = 0; k < depth; k++) {
        float16 line[VECTORS];
        #pragma unroll
        for (int j = 0; j < VECTORS; j++) line[j] = B_LOAD16(b + 16 * j);
        #pragma unroll
        for (int i = 0; i < ROWS; i++) {
            const float factor = A_LOAD(a, at[i]);
            #pragma unroll
            for (int j = 0; j < VECTORS; j++) sum[i][j] = sum[i][j] + factor * line[j];
        }
        a++;
        b += b_row;
    }

    const int first = c_offset + (batch * rows + row) * columns + column;
    // Through memory, so that the epilogue is in the code once and it compiles faster.
    float16 results[ROWS][VECTORS];
    #pragma unroll
    for (int i = 0; i < ROWS; i++) {
        #pragma unroll
        for (int j = 0; j < VECTORS; j++)
            results[i][j] = sum[i][j];
    }
    #pragma nounroll
    for (int i = 0; i < min(ROWS, rows - row); i++) {
        #pragma nounroll
        for (int j = 0; j < VECTORS; j++) {
            const int start = first + i * columns + 16 * j, left = columns - column - 16 * j;
            if (left <= 0) break;
            const float16 result = EPILOGUE(results[i][j], start, column + 16 * j);
            if (left >= 16) {
                C_STORE16(result, c + start);
            } else {
                float rest[16];
                vstore16(result, 0, rest);
                for (int n = 0; n < left; n++) C_STORE(rest[n], start + n, c);
            }
        }
    }
}

// Pack matrices of b into panels, for products of two activations. Element (k, n) of a matrix is at k * b_row +
// n * b_column; one of the strides is 1. The global size is (ceil(columns / 16), ceil(depth / 16), batches), the local
// size (1, 1, 1): a work-item packs 16 rows of 16 columns. Packed matrices follow each other, each
// ceil(columns / (16 * VECTORS)) * depth * 16 * VECTORS elements. Results in the columns past the end are arbitrary.
kernel void pack_panels(global const B *restrict b, global B *restrict panels, const int columns, const int depth,
                        const int b_row, const int b_column, const int inner, const int b_outer, const int b_inner,
                        const int b_offset)
{
    const int vector = get_global_id(0), begin = get_global_id(1) * 16, batch = get_global_id(2);
    const int outer = batch / inner, matrix = batch - outer * inner, end = min(begin + 16, depth);
    b += b_offset + outer * (long)b_outer + matrix * (long)b_inner;
    const int count = (columns + PANEL - 1) / PANEL;
    panels += ((long)batch * count + vector / VECTORS) * depth * PANEL + vector % VECTORS * 16;
    if (b_column == 1) {
        for (int k = begin; k < end; k++) {
            const float16 line = B_LOAD16(b + (long)k * b_row + 16 * vector);
            B_STORE16(line, panels + k * PANEL);
        }
        return;
    }
    for (int n = 0; n < min(16, columns - 16 * vector); n++) {
        global const B *column = b + (16 * vector + n) * (long)b_column;
        for (int k = begin; k < end; k++) B_STORE(B_LOAD(column, k), k * PANEL + n, panels);
    }
}
