// Identity matrices with a shifted diagonal.
kernel void eye(global const INDEX *restrict diagonal, global DATA *restrict target, const int rows, const int columns,
                const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    const int row = item / columns % rows, column = item % columns;
    DATA_STORE((DATA_VALUE)(column - row == (long)INDEX_LOAD(diagonal, 0)), item, target);
}
