// How elements compare. Data is [outer][length][inner]; a row, of which there is one for each outer and inner, lies
// across the middle, and a slice has one number along the middle.

// The place of the first element of a row.
int row_start(const int row, const int length, const int inner)
{
    return row / inner * length * inner + row % inner;
}

// Whether x comes before y: the larger one first where it descending; NaN before all else or behind it.
bool is_before(const DATA_VALUE x, const DATA_VALUE y, const int descending, const int nan_first)
{
    if ((x != x) != (y != y))
        return (x != x) == (nan_first != 0);
    return descending ? x > y : x < y;
}

// Whether slice a comes before slice b, of so many elements: by the first ones that differ, NaN behind all else.
bool slice_is_before(global const DATA *data, const int rows, const int length, const int inner, const int a, const int b)
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
