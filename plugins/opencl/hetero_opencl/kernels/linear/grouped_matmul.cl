// One work-item per element [row, column] of a product whose weights [groups][columns][inner] depend on the row. With
// offsets they say where the rows of each group end; without them each group has `rows` rows.
kernel void grouped_matmul(global const DATA *restrict a, global const DATA *restrict b,
                           global const INDEX *restrict offsets, global DATA *restrict target, const int groups,
                           const int rows, const int columns, const int inner, const int has_offsets, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    const int row = item / columns, column = item % columns;
    int group = has_offsets ? 0 : row / rows;
    if (has_offsets)
        while (group < groups && row >= INDEX_LOAD(offsets, group))
            group++;
    DATA_VALUE sum = 0;
    if (group < groups)
        for (int k = 0; k < inner; k++)
            sum += DATA_LOAD(a, (long)row * inner + k) * DATA_LOAD(b, ((long)group * columns + column) * inner + k);
    DATA_STORE(sum, item, target);
}
