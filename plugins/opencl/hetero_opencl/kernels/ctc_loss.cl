// The loss of connectionist temporal classification, by the forward variables of Graves et al., Connectionist Temporal
// Classification (2006), section 4.1. Logits are [batch][steps][classes] and labels [batch][steps].

// For each row of logits the largest, and the logarithm of the sum of all when that one is taken off.
kernel void find_norms(global const DATA *restrict logits, global REAL *restrict norms, const int classes,
                       const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    REAL largest = -INFINITY, sum = 0;
    for (int next = 0; next < classes; next++)
        largest = fmax(largest, (REAL)DATA_LOAD(logits, item * classes + next));
    for (int next = 0; next < classes; next++)
        sum += exp((REAL)DATA_LOAD(logits, item * classes + next) - largest);
    norms[2 * item] = largest;
    norms[2 * item + 1] = log(sum);
}

// The logarithm of the sum of two numbers whose logarithms are given.
REAL log_of_sum(const REAL a, const REAL b)
{
    if (a == -INFINITY || b == -INFINITY)
        return a == -INFINITY ? b : a;
    return fmax(a, b) + log1p(exp(-fabs(a - b)));
}

// Whether a label counts: not if it is equal to any before it (UNIQUE), or to the one before it (COLLAPSED).
bool counts(global const LABEL *labels, const int place)
{
    bool is_kept = true;
#if UNIQUE
    for (int other = 0; other < place; other++)
        is_kept = is_kept && labels[other] != labels[place];
#elif COLLAPSED
    is_kept = !place || labels[place - 1] != labels[place];
#endif
    return is_kept;
}

// A work-item computes the loss of one sequence. A path has room for 2 * steps + 1 classes, blanks around labels, and
// the chances for the logarithms of the probabilities to be at each at the step at hand. MERGED lets labels stay.
kernel void loss(global const DATA *restrict logits, global const LENGTH *restrict logit_lengths,
                 global const LABEL *restrict labels, global const COUNT *restrict label_lengths,
                 global const BLANK *restrict given_blank, global const REAL *restrict norms,
                 global int *restrict paths, global REAL *restrict all_chances, global DATA *restrict losses,
                 const int steps, const int classes, const int has_blank, const int count)
{
    const int item = get_global_id(0), width = 2 * steps + 1;
    if (item >= count)
        return;
    global int *path = paths + item * width;
    global REAL *chances = all_chances + item * width;
    const int blank = has_blank ? normalize_index(BLANK_LOAD(given_blank, 0), classes) : classes - 1;
    labels += item * steps;
    int last = 0;
    path[0] = blank;
    for (int place = 0; place < min((long)steps, (long)COUNT_LOAD(label_lengths, item)); place++) {
        if (counts(labels, place)) {
            path[last + 1] = normalize_index(max((long)labels[place], 0L), classes);
            path[last + 2] = blank;
            last += 2;
        }
    }
    for (int place = 0; place <= last; place++)
        chances[place] = place ? -INFINITY : 0;
    for (int step = 0; step < min((long)steps, (long)LENGTH_LOAD(logit_lengths, item)); step++) {
        const int row = item * steps + step;
        // From the last to the first, so that what is before has not moved on yet.
        for (int place = last; place >= 0; place--) {
            const bool is_label = place % 2;
            REAL chance = is_label && !MERGED ? -INFINITY : chances[place];
            if (place)
                chance = log_of_sum(chance, chances[place - 1]);
            if (is_label && place > 1 && !(MERGED && path[place] == path[place - 2]))
                chance = log_of_sum(chance, chances[place - 2]);
            const REAL logit = path[place] < 0 ? -INFINITY : DATA_LOAD(logits, row * classes + path[place]);
            chances[place] = chance + ((logit - norms[2 * row]) - norms[2 * row + 1]);
        }
    }
    DATA_STORE(-log_of_sum(chances[last], last ? chances[last - 1] : -INFINITY), item, losses);
}
