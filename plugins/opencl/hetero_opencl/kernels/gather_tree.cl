// One beam of a beam search: from its last step back, each step's parent names the beam of the step before. What comes
// behind the length of the sequence, or behind its first end token, are end tokens. All are [steps][batch][beams].
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
            const int place = step * count + first + beam;
            id = DATA_LOAD(ids, place);
            beam = normalize_index((long)DATA_LOAD(parents, place), beams);
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
