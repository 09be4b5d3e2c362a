// Suppression of boxes by better ones, in rows of candidates; overlap_of stands in a text of its own. The box of number
// i of a row is number row / classes * batch_step + row % classes * class_step + i * box_step of all boxes. Limits are
// in the type that scores are computed in: limits[0] is the largest overlap of two boxes that are both kept, limits[1]
// the score that candidates are above.

// Which numbers of an order are no candidates: a 1 for each that is not among the first `most`, or is of a score that
// is not above the limit (at_least: not below it).
kernel void mark_others(global const SCORE *restrict scores, global const int *restrict order,
                        global const SCORE_VALUE *restrict limits, global int *restrict gone, const int length,
                        const int most, const int at_least, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    const int row = item / length;
    const SCORE_VALUE score = SCORE_LOAD(scores, row * length + order[item]);
    const bool good = at_least ? score >= limits[1] : score > limits[1];
    gone[item] = !(good && item % length < most);
}

// Of each row of numbers in an order those that no better one suppresses, `most` at most, -1 where there are no more.
// One work-group a row: the candidates are taken one after the other, and what each suppresses is looked for together.
// A threshold above one half is made smaller by eta with each that is kept.
kernel void suppress(global const BOX *restrict boxes, global const int *restrict order, global int *gone,
                     global const SCORE_VALUE *restrict limits, global int *restrict kept, const int length,
                     const int classes, const int batch_step, const int class_step, const int box_step, const int most,
                     const float eta)
{
    const int row = get_group_id(0), lane = get_local_id(0), lanes = get_local_size(0);
    boxes += BOX_NUMBERS * ((long)(row / classes) * batch_step + (long)(row % classes) * class_step);
    order += (long)row * length;
    gone += (long)row * length;
    kept += (long)row * most;
    SCORE_VALUE threshold = limits[0];
    int found = 0;
    for (int next = 0; next < length && found < most; next++) {
        barrier(CLK_GLOBAL_MEM_FENCE);
        // Nobody changes this one until all have passed the next barrier.
        if (gone[next])
            continue;
        if (lane == 0)
            kept[found] = order[next];
        found++;
        if (threshold > 0.5f)
            threshold *= eta;
        const Box best = box_at(boxes, order[next] * box_step);
        for (int other = next + 1 + lane; other < length; other += lanes)
            if (!gone[other] && !(overlap_of(best, box_at(boxes, order[other] * box_step)) <= threshold))
                gone[other] = 1;
    }
    for (int place = found + lane; place < most; place += lanes)
        kept[place] = -1;
}

// The same where boxes make the scores of those that they overlap smaller, by exp(-overlap² / 2 limits[2]), and where
// `limited` also suppress. Without limits[2] they only suppress. Each work-item of a group looks after every so many
// scores; those of NaN are out. The scores of what is kept are told, too.
kernel void suppress_softly(global const BOX *restrict boxes, global const SCORE *restrict scores,
                            global const SCORE_VALUE *restrict limits, global float *restrict values,
                            global int *restrict kept, global float *restrict found_values, const int length,
                            const int classes, const int batch_step, const int class_step, const int box_step,
                            const int most, const int limited)
{
    local float best_values[64];
    local int best_numbers[64];
    local int chosen;
    const int row = get_group_id(0), lane = get_local_id(0), lanes = get_local_size(0);
    boxes += BOX_NUMBERS * ((long)(row / classes) * batch_step + (long)(row % classes) * class_step);
    values += (long)row * length;
    kept += (long)row * most;
    found_values += (long)row * most;
    const float sigma = limits[2], least = limits[1], highest = limited || !(sigma > 0) ? limits[0] : INFINITY;
    for (int number = lane; number < length; number += lanes) {
        const float score = SCORE_LOAD(scores, (long)row * length + number);
        values[number] = score > least ? score : NAN;
    }
    int found = 0;
    for (bool more = true; more && found < most;) {
        int own = -1;
        for (int number = lane; number < length; number += lanes)
            if (!isnan(values[number]) && (own < 0 || values[number] > values[own]))
                own = number;
        best_numbers[lane] = own;
        best_values[lane] = own < 0 ? 0 : values[own];
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane == 0) {
            int best = 0;
            for (int other = 1; other < lanes; other++) {
                const bool larger = best_values[other] > best_values[best];
                const bool first = best_values[other] == best_values[best] && best_numbers[other] < best_numbers[best];
                if (best_numbers[other] >= 0 && (best_numbers[best] < 0 || larger || first))
                    best = other;
            }
            chosen = best_numbers[best];
            if (chosen >= 0) {
                kept[found] = chosen;
                found_values[found] = best_values[best];
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        const int taken = chosen;
        more = taken >= 0;
        found += more;
        const Box best = box_at(boxes, max(taken, 0) * box_step);
        for (int number = lane; more && number < length; number += lanes) {
            const float overlap = overlap_of(best, box_at(boxes, number * box_step));
            const float value = sigma > 0 ? values[number] * exp(-0.5f / sigma * overlap * overlap) : values[number];
            const bool stays = number != taken && value > least && overlap <= highest;
            values[number] = stays ? value : NAN;
        }
    }
    for (int place = found + lane; place < most; place += lanes) {
        kept[place] = -1;
        found_values[place] = -INFINITY;
    }
}

// The scores of numbers kept; below all others where there is none.
kernel void take_scores(global const SCORE *restrict scores, global const int *restrict kept,
                        global SCORE_VALUE *restrict values, const int length, const int most, const int count)
{
    const int item = get_global_id(0);
    if (item < count)
        values[item] = kept[item] < 0 ? -INFINITY : SCORE_LOAD(scores, item / most * length + kept[item]);
}

// A 1 for each that is kept.
kernel void mark_kept(global const int *restrict kept, global int *restrict flags, const int count)
{
    const int item = get_global_id(0);
    if (item < count)
        flags[item] = kept[item] >= 0;
}
