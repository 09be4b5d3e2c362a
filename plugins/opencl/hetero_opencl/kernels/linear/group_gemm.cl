// Batched matrix product for GPUs: c[m][n] = sum over k of a[m][k] * b[k][n], then the epilogue (see epilogue.py).
//
// A work-group computes TILE_ROWS by TILE_COLUMNS results. It reads STEPS columns of a and rows of b at a time into
// local memory, the next ones while it computes with those before. A work-item computes ITEM_ROWS by ITEM_COLUMNS
// results, GROUP_ROWS rows and GROUP_COLUMNS columns apart, so that neighbors write neighboring elements.
//
// LEFT, RIGHT, RESULT, SUM, CHANNEL: see gemm.cl. BY_DEPTH: elements of a that follow each other in depth are neighbors
// in memory, else those of neighboring rows. PARTS: parts of the depth; with more than one, c gets the sums of each,
// [batch][part][row][column], and sum_parts adds them.
#define ITEMS (GROUP_ROWS * GROUP_COLUMNS)
#define LEFT_READS (TILE_ROWS * STEPS / ITEMS)
#define RIGHT_READS (TILE_COLUMNS * STEPS / ITEMS)

kernel void group_gemm(global const LEFT *restrict a, global const RIGHT *restrict b, global RESULT *restrict c,
                       const int rows, const int columns, const int depth, const int inner, const int a_outer,
                       const int a_inner, const int b_outer, const int b_inner, const int a_offset, const int b_offset,
                       const int c_offset, const int c_batch, const int a_row, const int a_step EPILOGUE_PARAMETERS)
{
    // A column more, so that work-items that write a column of a tile use different banks.
    local SUM left[STEPS][TILE_ROWS + 1];
    local SUM right[STEPS][TILE_COLUMNS];
    const int x = get_local_id(0), y = get_local_id(1), item = y * GROUP_COLUMNS + x;
    const int first_row = get_group_id(1) * TILE_ROWS, first_column = get_group_id(0) * TILE_COLUMNS;
    const int part = get_group_id(2) % PARTS, batch = get_group_id(2) / PARTS;
    const int outer = batch / inner, matrix = batch - outer * inner;
    const int steps = (depth + STEPS * PARTS - 1) / (STEPS * PARTS) * STEPS;
    const int begin = part * steps, end = min(depth, begin + steps);
    a += a_offset + outer * (long)a_outer + matrix * (long)a_inner;
    b += b_offset + outer * (long)b_outer + matrix * (long)b_inner;

    SUM sum[ITEM_ROWS][ITEM_COLUMNS];
    #pragma unroll
    for (int i = 0; i < ITEM_ROWS; i++) {
        #pragma unroll
        for (int j = 0; j < ITEM_COLUMNS; j++)
            sum[i][j] = 0;
    }
    SUM next_left[LEFT_READS], next_right[RIGHT_READS];
    // Elements outside of the matrices are read as their last ones. Those past the depth count as 0: from when they are
    // written to local memory, as a wave waits for a read where the element is first used.
#define READ_NEXT(start) \
    { \
        _Pragma("unroll") for (int n = 0; n < LEFT_READS; n++) { \
            const int at = item + n * ITEMS; \
            const int k = start + (BY_DEPTH ? at % STEPS : at / TILE_ROWS); \
            const int row = first_row + (BY_DEPTH ? at / STEPS : at % TILE_ROWS); \
            next_left[n] = LEFT_LOAD(a, min(row, rows - 1) * a_row + min(k, depth - 1) * a_step); \
        } \
        _Pragma("unroll") for (int n = 0; n < RIGHT_READS; n++) { \
            const int at = item + n * ITEMS, k = start + at / TILE_COLUMNS; \
            const int column = first_column + at % TILE_COLUMNS; \
            next_right[n] = RIGHT_LOAD(b, min(k, depth - 1) * columns + min(column, columns - 1)); \
        } \
    }
    READ_NEXT(begin);
    for (int start = begin; start < end; start += STEPS) {
        #pragma unroll
        for (int n = 0; n < LEFT_READS; n++) {
            const int at = item + n * ITEMS, k = BY_DEPTH ? at % STEPS : at / TILE_ROWS;
            left[k][BY_DEPTH ? at / STEPS : at % TILE_ROWS] = start + k < end ? next_left[n] : 0;
        }
        #pragma unroll
        for (int n = 0; n < RIGHT_READS; n++) {
            const int at = item + n * ITEMS, k = at / TILE_COLUMNS;
            right[k][at % TILE_COLUMNS] = start + k < end ? next_right[n] : 0;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        READ_NEXT(start + STEPS);
        #pragma unroll
        for (int k = 0; k < STEPS; k++) {
            SUM factors[ITEM_COLUMNS];
            #pragma unroll
            for (int j = 0; j < ITEM_COLUMNS; j++)
                factors[j] = right[k][x + j * GROUP_COLUMNS];
            #pragma unroll
            for (int i = 0; i < ITEM_ROWS; i++) {
                const SUM factor = left[k][y + i * GROUP_ROWS];
                #pragma unroll
                for (int j = 0; j < ITEM_COLUMNS; j++)
                    sum[i][j] = sum[i][j] + factor * factors[j];
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }

    const int first = c_offset + (PARTS > 1 ? get_group_id(2) * rows * columns : batch * c_batch);
    #pragma unroll
    for (int i = 0; i < ITEM_ROWS; i++) {
        const int row = first_row + y + i * GROUP_ROWS;
        #pragma unroll
        for (int j = 0; j < ITEM_COLUMNS; j++) {
            const int column = first_column + x + j * GROUP_COLUMNS;
            if (row < rows && column < columns) {
                const int at = first + row * columns + column;
                RESULT_STORE(EPILOGUE(sum[i][j], at, CHANNEL(matrix * rows + row, column)), at, c);
            }
        }
    }
}
