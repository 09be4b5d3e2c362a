// How elements compare. Data is [outer][length][inner]; a row, of which there is one for each outer and inner, lies
// across the middle. With one slice two elements of a row are compared; with more, which are all the rows then, the
// slices that have two numbers along the middle, by the first row in which they differ.

// The place of the first element of a row.
int start_of(const int row, const int length, const int inner)
{
    return row / inner * length * inner + row % inner;
}

// Whether x comes before y: the larger one first where it falls; NaN before all else or behind it.
bool is_before(const DATA_VALUE x, const DATA_VALUE y, const int falls, const int nan_first)
{
    if ((x != x) != (y != y))
        return (x != x) == (nan_first != 0);
    return falls ? x > y : x < y;
}

bool comes_before(global const DATA *data, const int row, const int slices, const int length, const int inner,
                  const int a, const int b, const int falls, const int nan_first)
{
    for (int slice = row; slice < row + slices; slice++) {
        const int start = start_of(slice, length, inner);
        const DATA_VALUE x = DATA_LOAD(data, start + a * inner), y = DATA_LOAD(data, start + b * inner);
        if (is_before(x, y, falls, nan_first))
            return true;
        if (is_before(y, x, falls, nan_first))
            return false;
    }
    return false;
}
