// CTC greedy decoding.

// Remove blanks, and with `merged` repeated classes, from the best classes of each sequence; pad with -1 and count
// them. A sequence has the given length, or with is_masked ends at the first 0 of a mask laid out like the best
// classes. The default blank is the last class.
kernel void decode(global const int *restrict best, global const LENGTH *restrict lengths,
                   global const BLANK *restrict given_blank, global LABEL *restrict labels,
                   global COUNT *restrict counts, const int steps, const int step_stride, const int sequence_stride,
                   const int classes, const int is_masked, const int has_blank, const int merged, const int count)
{
    const int item = get_global_id(0), start = item * sequence_stride;
    if (item >= count)
        return;
    const long blank = has_blank ? (long)BLANK_LOAD(given_blank, 0) : classes - 1;
    int found = 0, before = -1;
    for (int step = 0; step < steps; step++) {
        const int position = start + step * step_stride;
        if (is_masked ? LENGTH_LOAD(lengths, position) == 0 : step >= LENGTH_LOAD(lengths, item))
            break;
        const int label = best[position];
        if (label != blank && !(merged && label == before))
            LABEL_STORE((LABEL_VALUE)label, item * steps + found++, labels);
        before = label;
    }
    counts[item] = found;
    for (int rest = found; rest < steps; rest++)
        LABEL_STORE((LABEL_VALUE)(-1), item * steps + rest, labels);
}
