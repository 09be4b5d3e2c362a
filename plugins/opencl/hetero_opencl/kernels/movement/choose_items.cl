// Copy rows [row][item][word] with the items that a table [table_rows][batch] names in place of 0, 1 …; rows behind the
// table are copied as they are. WORD: the type that is copied at once; an item has `length` of them.
kernel void choose_items(global const WORD *restrict rows, global const int *restrict items,
                         global WORD *restrict target, const int count, const int table_rows, const int batch,
                         const int length)
{
    const int index = get_global_id(0);
    if (index >= count) return;
    const int place = index / length, row = place / batch;
    const int item = row < table_rows ? items[place] : place - row * batch;
    target[index] = rows[(row * (long)batch + item) * length + (index - place * length)];
}
