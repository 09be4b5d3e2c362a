// Element-wise operations on rows of at least WIDTH elements: the epilogue (see epilogue.py) computes each vector,
// where `channel` is the row. The last vector of a row begins earlier, so that it ends with the row. Global size:
// [parts of a row, groups of `group` rows], in work-groups of one work-item.
#define PASTE(a, b) a##b
#define JOIN(a, b) PASTE(a, b)

kernel void row_elementwise(global RESULT *restrict out, const int length, const int rows, const int group
                            EPILOGUE_PARAMETERS)
{
    const int vectors = (length + WIDTH - 1) / WIDTH, parts = get_global_size(0);
    const int begin = (long)vectors * get_global_id(0) / parts, end = (long)vectors * (get_global_id(0) + 1) / parts;
    const int first = get_global_id(1) * group, last = min(first + group, rows);
    for (int row = first; row < last; row++) {
        for (int vector = begin; vector < end; vector++) {
            const int at = row * length + min(vector * WIDTH, length - WIDTH);
            JOIN(RESULT_STORE, WIDTH)(EPILOGUE((JOIN(RESULT_VALUE, WIDTH))(0), at, row), out + at);
        }
    }
}
