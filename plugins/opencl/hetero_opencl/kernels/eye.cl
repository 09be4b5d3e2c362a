// Matrices [rows][columns] with 1 where the column is `diagonal` further than the row, else 0.
kernel void eye(global const INDEX *restrict diagonal, global DATA *restrict result, const int rows, const int columns,
                const int count)
{
    const int item = get_global_id(0);
    if (item >= count) return;
    const long row = item / columns % rows, column = item % columns;
    DATA_STORE((DATA_VALUE)(column - row == (long)INDEX_LOAD(diagonal, 0)), item, result);
}
