// target[before, i, inner] = on if indices[before, inner] == i, else off. With from_end, negative indices count from
// the end.
kernel void one_hot(global const INDEX *restrict indices, global const WORD *restrict on,
                    global const WORD *restrict off, global WORD *restrict target, const int depth, const int inner,
                    const int from_end, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    const int row = item / inner;
    const long index = INDEX_LOAD(indices, row / depth * inner + item % inner);
    const long position = index < 0 && from_end ? index + depth : index;
    target[item] = position == row % depth ? on[0] : off[0];
}
