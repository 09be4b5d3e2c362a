// Sequences turned round: along one axis the first elements, as many as lengths says for each place along another axis,
// in reverse order. Both axes are given by their length and the words from one element to the next.
kernel void reverse_sequence(global const WORD *restrict source, global const LENGTH *restrict lengths,
                             global WORD *restrict target, const int batch, const int batch_stride, const int steps,
                             const int step_stride, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    const int step = item / step_stride % steps;
    const long length = (long)LENGTH_LOAD(lengths, item / batch_stride % batch);
    const bool is_turned = step < length && length <= steps;
    target[item] = source[item + (is_turned ? ((int)length - 1 - 2 * step) * step_stride : 0)];
}
