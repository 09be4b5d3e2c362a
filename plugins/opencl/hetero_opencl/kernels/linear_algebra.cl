// Determinants and inverses of square matrices of DATA, by elimination in the rows' order of the largest pivots.
//
// A work-group of GROUP work-items computes one matrix, in scratch memory; each takes every GROUPth column. Numbers of
// DATA_VALUE are computed with.
typedef DATA_VALUE value;

// The row at or below k with the largest number in column k.
inline int largest_row(global const value *m, const int k, const int size)
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

// Change two numbers of a column.
inline void change_rows(global value *m, const int column, const int one, const int other, const int size)
{
    const value kept = m[(long)one * size + column];
    m[(long)one * size + column] = m[(long)other * size + column];
    m[(long)other * size + column] = kept;
}

// In columns from `first` on, of m or beside it: put row k in its place, divide it by its pivot in m, and take it away
// from rows from `first_row` on as often as these have numbers in column k of m. No work-item reads another's columns.
inline void take_away(global const value *m, global value *columns, const int first, const int k, const int chosen,
                      const int first_row, const int size)
{
    const int begin = first + (int)get_local_id(0);
    const value pivot = m[(long)k * size + k];
    global value *restrict from = columns + (long)k * size;
    for (int j = begin; j < size; j += GROUP) {
        change_rows(columns, j, k, chosen, size);
        from[j] /= pivot;
    }
    for (int i = first_row; i < size; i++) {
        if (i == k) continue;
        const value factor = m[(long)i * size + k];
        global value *restrict row = columns + (long)i * size;
        for (int j = begin; j < size; j += GROUP) row[j] -= factor * from[j];
    }
}

#define ALL_WAIT barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void determinant(global const DATA *restrict data, global value *restrict scratch, global DATA *restrict result,
                 const int size)
{
    local int chosen;
    const int lane = get_local_id(0), matrix = get_group_id(0);
    data += (long)matrix * size * size;
    global value *m = scratch + (long)matrix * size * size;
    for (int i = lane; i < size * size; i += GROUP) m[i] = DATA_LOAD(data, i);
    ALL_WAIT;
    value product = 1;
    for (int k = 0; k < size; k++) {
        if (lane == 0) {
            chosen = largest_row(m, k, size);
            change_rows(m, k, k, chosen, size);
        }
        ALL_WAIT;
        const value pivot = m[(long)k * size + k];
        const int other = chosen;
        product *= other == k ? pivot : -pivot;
        if (pivot == 0) break;
        take_away(m, m, k + 1, k, other, k + 1, size);
        ALL_WAIT;
    }
    if (lane == 0) DATA_STORE(product, matrix, result);
}

// With ADJOINT 1 of transposed matrices. Beside m, of which columns up to k are done with, its inverse comes to be.
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void inverse(global const DATA *restrict data, global value *restrict scratch, global DATA *restrict result,
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
    ALL_WAIT;
    for (int k = 0; k < size; k++) {
        if (lane == 0) {
            chosen = largest_row(m, k, size);
            change_rows(m, k, k, chosen, size);
        }
        ALL_WAIT;
        take_away(m, m, k + 1, k, chosen, 0, size);
        take_away(m, inverted, 0, k, chosen, 0, size);
        ALL_WAIT;
    }
    for (int i = lane; i < count; i += GROUP) DATA_STORE(inverted[i], i, result);
}
