// Gather. `inner`, the length of the axes after the indexed ones, is counted in words. An out-of-range index gives
// zero.

// target[batch, outer, i, inner] = source[batch, outer, indices[batch, i], inner]
kernel void gather(global const WORD *restrict source, global const INDEX *restrict indices,
                   global WORD *restrict target, const int outer, const int length, const int index_count,
                   const int inner, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    const int slice = item / inner, row = slice / index_count;
    const int position = normalize_index(INDEX_LOAD(indices, row / outer * index_count + slice % index_count), length);
    target[item] = position < 0 ? (WORD)(0) : source[(row * length + position) * inner + item % inner];
}

// target[outer, i, inner] = source[outer, indices[outer, i, inner], inner]
kernel void gather_elements(global const WORD *restrict source, global const INDEX *restrict indices,
                            global WORD *restrict target, const int length, const int index_length, const int inner,
                            const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    const int position = normalize_index(INDEX_LOAD(indices, item), length);
    const int from = (item / inner / index_length * length + position) * inner + item % inner;
    target[item] = position < 0 ? (WORD)(0) : source[from];
}

// target[batch, i, inner] = source[batch, indices[batch, i], inner], where indices[batch, i] is a vector of `depth`
// indices into axes of these lengths. `vectors` is their number per batch.
kernel void gather_nd(global const WORD *restrict source, global const INDEX *restrict indices,
                      global WORD *restrict target, global const int *restrict lengths, const int depth,
                      const int vectors, const int inner, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    const int vector = item / inner;
    int row = vector / vectors;
    bool inside = true;
    for (int axis = 0; axis < depth; axis++) {
        const int position = normalize_index(INDEX_LOAD(indices, vector * depth + axis), lengths[axis]);
        inside = inside && position >= 0;
        row = row * lengths[axis] + position;
    }
    target[item] = inside ? source[row * inner + item % inner] : (WORD)(0);
}
