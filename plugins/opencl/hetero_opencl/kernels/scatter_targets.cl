// Where updates go: for each of them the number of a row of the data, or -1 for one from outside.

// The target of each update of indices of any shape, along an axis of this length. axes holds for each axis, the last
// one first, how long the indices are, how long the data is and its stride; that is 0 for the axis that is indexed.
kernel void element_targets(global const INDEX *restrict indices, global int *restrict targets,
                            global const int *restrict axes, const int rank, const int length, const int stride,
                            const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    int rest = item, target = 0;
    bool inside = true;
    for (int axis = 0; axis < rank; axis++, axes += 3) {
        const int along = rest % axes[0];
        rest /= axes[0];
        target += along * axes[2];
        inside = inside && (along < axes[1] || !axes[2]);
    }
    const int place = normalize_index(INDEX_LOAD(indices, item), length);
    targets[item] = inside && place >= 0 ? target + place * stride : -1;
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
        const int place = normalize_index(INDEX_LOAD(indices, item * depth + axis), lengths[axis]);
        inside = inside && place >= 0;
        row = row * lengths[axis] + place;
    }
    targets[item] = inside ? row : -1;
}
