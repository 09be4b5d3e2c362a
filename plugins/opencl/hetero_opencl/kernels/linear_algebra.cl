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

#define ALL_WAIT barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)

// Of a column below row k: what takes away column k, whose number in row k is the pivot.
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
        for (int j = k + 1 + lane; j < size; j += GROUP) {
            change_rows(m, j, k, other, size);
            const value factor = m[(long)k * size + j] / pivot;
            for (int i = k + 1; i < size; i++) m[(long)i * size + j] -= m[(long)i * size + k] * factor;
        }
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
        const value pivot = m[(long)k * size + k];
        const int other = chosen;
        for (int j = k + 1 + lane; j < size + size; j += GROUP) {
            global value *half_of = j < size ? m : inverted;
            const int column = j < size ? j : j - size;
            change_rows(half_of, column, k, other, size);
            const value factor = half_of[(long)k * size + column] / pivot;
            for (int i = 0; i < size; i++) half_of[(long)i * size + column] -= m[(long)i * size + k] * factor;
            half_of[(long)k * size + column] = factor;
        }
        ALL_WAIT;
    }
    for (int i = lane; i < count; i += GROUP) DATA_STORE(inverted[i], i, result);
}
