// Targets of scatter updates: for each update the position of a row or element of the data, or -1 if out of range.

// Targets of updates with indices along one axis of this length and stride. `axes` holds for each axis, the last one
// first, the length of the indices, the length of the data and its stride, which is 0 for the indexed axis.
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
    const int position = normalize_index(INDEX_LOAD(indices, item), length);
    targets[item] = inside && position >= 0 ? target + position * stride : -1;
}

// Targets of updates whose index is a vector of `depth` numbers, into axes of these lengths.
kernel void row_targets(global const INDEX *restrict indices, global int *restrict targets,
                        global const int *restrict lengths, const int depth, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    bool inside = true;
    int row = 0;
    for (int axis = 0; axis < depth; axis++) {
        const int position = normalize_index(INDEX_LOAD(indices, item * depth + axis), lengths[axis]);
        inside = inside && position >= 0;
        row = row * lengths[axis] + position;
    }
    targets[item] = inside ? row : -1;
}
