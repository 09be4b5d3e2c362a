// Concatenation: copies rows of words from several sources side by side into the rows of the target.
//
// A row of the target has row_length words; those from first on, `width` in all, are copied. PARAMETERS declares for
// each source its pointer, the place of its first word, the step from row to row, and the length of a row. SOURCES
// holds a SOURCE for each.
#define SOURCE(source, offset, step, length)                   \
    if (at < length) {                                         \
        target[to] = source[offset + row * step + at];         \
        return;                                                \
    }                                                          \
    at -= length;

kernel void concatenate(global WORD *restrict target, const int first, const int row_length, const int width,
                        PARAMETERS const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    const int row = item / width;
    int at = item % width;
    const int to = first + row * row_length + at;
    SOURCES
}
