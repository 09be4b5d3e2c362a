// Backtrace one beam of a beam search, from its last step to the first, along the parents. Steps after the length of
// the sequence or after its first end token become end tokens. All tensors are [steps][batch][beams]. One work-item per
// beam.
kernel void gather_tree(global const DATA *restrict ids, global const DATA *restrict parents,
                        global const DATA *restrict lengths, global const DATA *restrict end_token,
                        global DATA *restrict target, const int steps, const int beams, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    const int first = item / beams * beams;
    const long length = (long)DATA_LOAD(lengths, item / beams);
    const DATA_VALUE end = DATA_LOAD(end_token, 0);
    int beam = item % beams;
    for (int step = steps - 1; step >= 0; step--) {
        DATA_VALUE id = end;
        if (step < length && beam >= 0) {
            const int position = step * count + first + beam;
            id = DATA_LOAD(ids, position);
            beam = normalize_index((long)DATA_LOAD(parents, position), beams);
        }
        DATA_STORE(id, step * count + item, target);
    }
    bool ended = false;
    for (int step = 0; step < steps; step++) {
        ended = ended || DATA_LOAD(target, step * count + item) == end;
        if (ended)
            DATA_STORE(end, step * count + item, target);
    }
}
