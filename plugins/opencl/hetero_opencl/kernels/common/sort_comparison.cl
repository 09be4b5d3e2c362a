// Comparison of elements and slices of data [outer][length][inner]. A row is the elements of one (outer, inner) pair; a
// slice is the elements of one index of the middle axis.

// Position of the first element of a row.
int row_start(const int row, const int length, const int inner)
{
    return row / inner * length * inner + row % inner;
}

// Return whether x sorts before y. NaN sorts before all numbers if nan_first, else after them.
bool is_before(const DATA_VALUE x, const DATA_VALUE y, const int descending, const int nan_first)
{
    if ((x != x) != (y != y))
        return (x != x) == (nan_first != 0);
    return descending ? x > y : x < y;
}

// Return whether slice a sorts before slice b: by the first elements in which they differ, NaN last.
bool slice_is_before(global const DATA *data, const int rows, const int length, const int inner, const int a,
                     const int b)
{
    for (int row = 0; row < rows; row++) {
        const int start = row_start(row, length, inner);
        const DATA_VALUE x = DATA_LOAD(data, start + a * inner), y = DATA_LOAD(data, start + b * inner);
        if (is_before(x, y, 0, 0))
            return true;
        if (is_before(y, x, 0, 0))
            return false;
    }
    return false;
}
