// Connectionist temporal classification: labels from the scores of classes at each step of time.

// The class of the highest score in each row, NaN above all, and of equal ones the first.
kernel void best_classes(global const DATA *restrict scores, global int *restrict best, const int classes,
                         const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    int place = 0;
    DATA_VALUE highest = DATA_LOAD(scores, item * classes);
    for (int next = 1; next < classes && highest == highest; next++) {
        const DATA_VALUE score = DATA_LOAD(scores, item * classes + next);
        if (score > highest || score != score) {
            highest = score;
            place = next;
        }
    }
    best[item] = place;
}

// The best classes of each sequence without blanks, filled up with -1, and how many there are. A sequence ends after
// the given length, or where it is masked at the first 0 in a mask laid out as the best classes are. With `merged` a
// class that goes on counts once. The blank is the last class where none is given.
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
        const int place = start + step * step_stride;
        if (is_masked ? LENGTH_LOAD(lengths, place) == 0 : step >= LENGTH_LOAD(lengths, item))
            break;
        const int label = best[place];
        if (label != blank && !(merged && label == before))
            LABEL_STORE((LABEL_VALUE)label, item * steps + found++, labels);
        before = label;
    }
    counts[item] = found;
    for (int rest = found; rest < steps; rest++)
        LABEL_STORE((LABEL_VALUE)(-1), item * steps + rest, labels);
}
