// target[batch, outer, i, inner] = source[batch, outer, indices[batch, i], inner], zero where an index lies outside;
// a negative index counts from the end. inner counts words, batches are left to count.
kernel void gather(global const WORD *restrict source, global const INDEX *restrict indices,
                   global WORD *restrict target, const int outer, const int length, const int index_count,
                   const int inner, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    const int slice = item / inner, row = slice / index_count;
    long index = indices[row / outer * index_count + slice % index_count];
    index += index < 0 ? length : 0;
    const bool inside = index >= 0 && index < length;
    target[item] = inside ? source[(row * length + (int)index) * inner + item % inner] : (WORD)(0);
}
