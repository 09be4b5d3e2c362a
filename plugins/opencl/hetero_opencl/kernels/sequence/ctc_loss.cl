// CTC loss by the forward variables of Graves et al., "Connectionist Temporal Classification" (2006), section 4.1.
// Logits are [batch][steps][classes], labels [batch][steps].

// Maximum of each row of logits, and log(sum(exp(logits - maximum))).
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

// log(exp(a) + exp(b)).
REAL log_of_sum(const REAL a, const REAL b)
{
    if (a == -INFINITY || b == -INFINITY)
        return a == -INFINITY ? b : a;
    return fmax(a, b) + log1p(exp(-fabs(a - b)));
}

// Whether a label is part of the target: not if it repeats any label before it (UNIQUE), or the previous one
// (COLLAPSED).
bool is_counted(global const LABEL *labels, const int position)
{
    bool is_kept = true;
#if UNIQUE
    for (int other = 0; other < position; other++)
        is_kept = is_kept && labels[other] != labels[position];
#elif COLLAPSED
    is_kept = !position || labels[position - 1] != labels[position];
#endif
    return is_kept;
}

// Loss of one sequence per work-item. A path is 2 * steps + 1 classes, with blanks around labels; `log_probs` are the
// log-probabilities of being at each of them at the current step. MERGED: a label may last several steps.
kernel void loss(global const DATA *restrict logits, global const LENGTH *restrict logit_lengths,
                 global const LABEL *restrict labels, global const COUNT *restrict label_lengths,
                 global const BLANK *restrict blank_input, global const REAL *restrict norms,
                 global int *restrict paths, global REAL *restrict all_log_probs, global DATA *restrict losses,
                 const int steps, const int classes, const int has_blank, const int count)
{
    const int item = get_global_id(0), width = 2 * steps + 1;
    if (item >= count)
        return;
    global int *path = paths + item * width;
    global REAL *log_probs = all_log_probs + item * width;
    const int blank = has_blank ? normalize_index(BLANK_LOAD(blank_input, 0), classes) : classes - 1;
    labels += item * steps;
    int last = 0;
    path[0] = blank;
    for (int position = 0; position < min((long)steps, (long)COUNT_LOAD(label_lengths, item)); position++) {
        if (is_counted(labels, position)) {
            path[last + 1] = normalize_index(max((long)labels[position], 0L), classes);
            path[last + 2] = blank;
            last += 2;
        }
    }
    for (int position = 0; position <= last; position++)
        log_probs[position] = position ? -INFINITY : 0;
    for (int step = 0; step < min((long)steps, (long)LENGTH_LOAD(logit_lengths, item)); step++) {
        const int row = item * steps + step;
        // From the last to the first, so that earlier entries still belong to the previous step.
        for (int position = last; position >= 0; position--) {
            const bool is_label = position % 2;
            REAL log_prob = is_label && !MERGED ? -INFINITY : log_probs[position];
            if (position)
                log_prob = log_of_sum(log_prob, log_probs[position - 1]);
            if (is_label && position > 1 && !(MERGED && path[position] == path[position - 2]))
                log_prob = log_of_sum(log_prob, log_probs[position - 2]);
            const REAL logit = path[position] < 0 ? -INFINITY : DATA_LOAD(logits, row * classes + path[position]);
            log_probs[position] = log_prob + ((logit - norms[2 * row]) - norms[2 * row + 1]);
        }
    }
    DATA_STORE(-log_of_sum(log_probs[last], last ? log_probs[last - 1] : -INFINITY), item, losses);
}
