// Reverse the first lengths[b] steps of each sequence b. The batch axis and the step axis are given by their lengths
// and their strides in words.
kernel void reverse_sequence(global const WORD *restrict source, global const LENGTH *restrict lengths,
                             global WORD *restrict target, const int batch, const int batch_stride, const int steps,
                             const int step_stride, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    const int step = item / step_stride % steps;
    const long length = (long)LENGTH_LOAD(lengths, item / batch_stride % batch);
    const bool is_reversed = step < length && length <= steps;
    target[item] = source[item + (is_reversed ? ((int)length - 1 - 2 * step) * step_stride : 0)];
}
