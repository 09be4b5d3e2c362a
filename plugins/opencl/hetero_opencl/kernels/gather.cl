// Slices and elements picked by indices. All lengths behind the axes that the indices name are counted in words.

// target[batch, outer, i, inner] = source[batch, outer, indices[batch, i], inner], zero where an index lies outside.
// Batches are left to count.
kernel void gather(global const WORD *restrict source, global const INDEX *restrict indices,
                   global WORD *restrict target, const int outer, const int length, const int index_count,
                   const int inner, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    const int slice = item / inner, row = slice / index_count;
    const int place = normalize_index(INDEX_LOAD(indices, row / outer * index_count + slice % index_count), length);
    target[item] = place < 0 ? (WORD)(0) : source[(row * length + place) * inner + item % inner];
}

// target[outer, i, inner] = source[outer, indices[outer, i, inner], inner], zero where an index lies outside.
kernel void gather_elements(global const WORD *restrict source, global const INDEX *restrict indices,
                            global WORD *restrict target, const int length, const int index_length, const int inner,
                            const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    const int place = normalize_index(INDEX_LOAD(indices, item), length);
    const int from = (item / inner / index_length * length + place) * inner + item % inner;
    target[item] = place < 0 ? (WORD)(0) : source[from];
}

// target[batch, i, inner] = source[batch, the place that the vector indices[batch, i] names among lengths, inner], zero
// where it lies outside. There are so many vectors in each batch, of depth numbers.
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
        const int place = normalize_index(INDEX_LOAD(indices, vector * depth + axis), lengths[axis]);
        inside = inside && place >= 0;
        row = row * lengths[axis] + place;
    }
    target[item] = inside ? source[row * inner + item % inner] : (WORD)(0);
}
