// target[before, place, behind] is the value on where the index [before, behind] names the place, else the value off. A
// negative index counts from the end where that is asked for.
kernel void one_hot(global const INDEX *restrict indices, global const WORD *restrict on,
                    global const WORD *restrict off, global WORD *restrict target, const int depth, const int behind,
                    const int from_end, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    const int row = item / behind;
    const long index = INDEX_LOAD(indices, row / depth * behind + item % behind);
    const long place = index < 0 && from_end ? index + depth : index;
    target[item] = place == row % depth ? on[0] : off[0];
}
