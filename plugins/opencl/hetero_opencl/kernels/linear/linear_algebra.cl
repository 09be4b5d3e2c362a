// Determinants and inverses of square matrices by Gaussian elimination with partial pivoting.
//
// A work-group of GROUP work-items computes one matrix, in scratch memory; each work-item owns every GROUP-th column.
typedef DATA_VALUE value;

// The row at or below k with the largest magnitude in column k.
static inline int pivot_row(global const value *m, const int k, const int size)
{
    int row = k;
    value largest = fabs(m[(long)k * size + k]);
    for (int i = k + 1; i < size; i++) {
        const value candidate = fabs(m[(long)i * size + k]);
        if (candidate > largest) {
            largest = candidate;
            row = i;
        }
    }
    return row;
}

// Swap two elements of a column.
static inline void swap_rows(global value *m, const int column, const int one, const int other, const int size)
{
    const value kept = m[(long)one * size + column];
    m[(long)one * size + column] = m[(long)other * size + column];
    m[(long)other * size + column] = kept;
}

// Eliminate column k of m in the columns of `columns` (m itself or the matrix beside it) from `first` on: swap the
// pivot row into place, divide it by the pivot, and subtract its multiples from the rows from first_row on. No
// work-item reads another's columns.
static inline void eliminate(global const value *m, global value *columns, const int first, const int k,
                             const int chosen, const int first_row, const int size)
{
    const int begin = first + (int)get_local_id(0);
    const value pivot = m[(long)k * size + k];
    global value *restrict from = columns + (long)k * size;
    for (int j = begin; j < size; j += GROUP) {
        swap_rows(columns, j, k, chosen, size);
        from[j] /= pivot;
    }
    for (int i = first_row; i < size; i++) {
        if (i == k) continue;
        const value factor = m[(long)i * size + k];
        global value *restrict row = columns + (long)i * size;
        for (int j = begin; j < size; j += GROUP) row[j] -= factor * from[j];
    }
}

#define BARRIER barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)

kernel void determinant(global const DATA *restrict data, global value *restrict scratch, global DATA *restrict result,
                        const int size)
{
    local int chosen;
    const int lane = get_local_id(0), matrix = get_group_id(0);
    data += (long)matrix * size * size;
    global value *m = scratch + (long)matrix * size * size;
    for (int i = lane; i < size * size; i += GROUP) m[i] = DATA_LOAD(data, i);
    BARRIER;
    value product = 1;
    for (int k = 0; k < size; k++) {
        if (lane == 0) {
            chosen = pivot_row(m, k, size);
            swap_rows(m, k, k, chosen, size);
        }
        BARRIER;
        const value pivot = m[(long)k * size + k];
        const int other = chosen;
        product *= other == k ? pivot : -pivot;
        if (pivot == 0) break;
        eliminate(m, m, k + 1, k, other, k + 1, size);
        BARRIER;
    }
    if (lane == 0) DATA_STORE(product, matrix, result);
}

// Gauss-Jordan elimination of m beside the identity, which becomes the inverse. ADJOINT 1: of the transposed matrix.
kernel void inverse(global const DATA *restrict data, global value *restrict scratch, global DATA *restrict result,
                    const int size)
{
    local int chosen;
    const int lane = get_local_id(0), matrix = get_group_id(0), count = size * size;
    data += (long)matrix * count;
    result += (long)matrix * count;
    global value *m = scratch + (long)matrix * 2 * count, *inverted = m + count;
    for (int i = lane; i < count; i += GROUP) {
        const int row = i / size, column = i % size;
        m[i] = DATA_LOAD(data, ADJOINT ? column * size + row : i);
        inverted[i] = row == column;
    }
    BARRIER;
    for (int k = 0; k < size; k++) {
        if (lane == 0) {
            chosen = pivot_row(m, k, size);
            swap_rows(m, k, k, chosen, size);
        }
        BARRIER;
        eliminate(m, m, k + 1, k, chosen, 0, size);
        eliminate(m, inverted, 0, k, chosen, 0, size);
        BARRIER;
    }
    for (int i = lane; i < count; i += GROUP) DATA_STORE(inverted[i], i, result);
}
