// Updates written into a copy of the data. First each update learns its target, the number of a row of the data, -1 for
// one outside; then either each row finds the last of its updates, or each row's updates are combined in their order.

// The target of each update of indices of any shape, along an axis of this length. AXES holds for each axis of the
// indices its length and the stride of the data, the last axis first; the stride is 0 for that which is indexed.
kernel void element_targets(global const INDEX *restrict indices, global int *restrict targets,
                            global const int *restrict axes, const int rank, const int length, const int stride,
                            const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    int rest = item, target = 0;
    for (int axis = 0; axis < rank; axis++) {
        target += rest % axes[2 * axis] * axes[2 * axis + 1];
        rest /= axes[2 * axis];
    }
    const int place = place_of(INDEX_LOAD(indices, item), length);
    targets[item] = place < 0 ? -1 : target + place * stride;
}

// The target of each update that a vector of depth numbers names among lengths.
kernel void row_targets(global const INDEX *restrict indices, global int *restrict targets,
                        global const int *restrict lengths, const int depth, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    bool inside = true;
    int row = 0;
    for (int axis = 0; axis < depth; axis++) {
        const int place = place_of(INDEX_LOAD(indices, item * depth + axis), lengths[axis]);
        inside = inside && place >= 0;
        row = row * lengths[axis] + place;
    }
    targets[item] = inside ? row : -1;
}

// The number of the last update of each row; it must hold -1 before.
kernel void find_last(global const int *restrict targets, global int *restrict last, const int count)
{
    const int item = get_global_id(0);
    if (item < count && targets[item] >= 0)
        atomic_max(last + targets[item], item);
}

// result[outer, row, inner] = updates[outer, the last of the row, inner], or the data where there is none.
kernel void replace(global const WORD *restrict data, global const WORD *restrict updates,
                    global const int *restrict last, global WORD *restrict result, const int rows, const int inner,
                    const int update_count, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    const int row = item / inner, update = last[row % rows];
    const int place = (row / rows * update_count + update) * inner + item % inner;
    result[item] = update < 0 ? data[item] : updates[place];
}
