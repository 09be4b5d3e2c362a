// Greedy and soft non-maximum suppression in rows of candidates. box_at and iou come from iou.cl or rotated_iou.cl.
// The box of candidate i of a row has the index
// row / classes * batch_step + row % classes * class_step + i * box_step. limits[0] is the IoU above which a box is
// suppressed, limits[1] the score threshold.

// suppressed[i] = 1 if the candidate at sorted position i is not among the first `max_kept`, or its score is not above
// limits[1] (with at_least: is below it).
kernel void mark_non_candidates(global const SCORE *restrict scores, global const int *restrict order,
                                global const SCORE_VALUE *restrict limits, global int *restrict suppressed,
                                const int length, const int max_kept, const int at_least, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    const int row = item / length;
    const SCORE_VALUE score = SCORE_LOAD(scores, row * length + order[item]);
    const bool good = at_least ? score >= limits[1] : score > limits[1];
    suppressed[item] = !(good && item % length < max_kept);
}

// Greedy NMS: keep the best candidates of each row that no better one suppresses, at most `max_kept`, and pad with -1.
// One work-group per row: candidates are visited in order, and each one's overlaps are computed in parallel. A
// threshold above one half is multiplied by eta after each box that is kept (adaptive NMS).
kernel void suppress(global const BOX *restrict boxes, global const int *restrict order, global int *suppressed,
                     global const SCORE_VALUE *restrict limits, global int *restrict kept, const int length,
                     const int classes, const int batch_step, const int class_step, const int box_step,
                     const int max_kept, const float eta)
{
    const int row = get_group_id(0), lane = get_local_id(0), lanes = get_local_size(0);
    boxes += BOX_NUMBERS * ((long)(row / classes) * batch_step + (long)(row % classes) * class_step);
    order += (long)row * length;
    suppressed += (long)row * length;
    kept += (long)row * max_kept;
    SCORE_VALUE threshold = limits[0];
    int kept_count = 0;
    for (int next = 0; next < length && kept_count < max_kept; next++) {
        barrier(CLK_GLOBAL_MEM_FENCE);
        // suppressed[next] does not change between these two barriers.
        if (suppressed[next])
            continue;
        if (lane == 0)
            kept[kept_count] = order[next];
        kept_count++;
        if (threshold > 0.5f)
            threshold *= eta;
        const Box best = box_at(boxes, order[next] * box_step);
        for (int other = next + 1 + lane; other < length; other += lanes)
            if (!suppressed[other] && !(iou(best, box_at(boxes, order[other] * box_step)) <= threshold))
                suppressed[other] = 1;
    }
    for (int place = kept_count + lane; place < max_kept; place += lanes)
        kept[place] = -1;
}

// Soft-NMS: a kept box multiplies the scores of the others by exp(-overlap² / (2 limits[2])), where limits[2] is sigma;
// with `limited` it also suppresses those that overlap by more than limits[0]. With sigma 0 it is greedy NMS. The
// work-items of a group share the scores of a row; the score of a removed candidate is NaN.
kernel void suppress_softly(global const BOX *restrict boxes, global const SCORE *restrict scores,
                            global const SCORE_VALUE *restrict limits, global float *restrict values,
                            global int *restrict kept, global float *restrict kept_scores, const int length,
                            const int classes, const int batch_step, const int class_step, const int box_step,
                            const int max_kept, const int limited)
{
    local float best_values[64];
    local int best_numbers[64];
    local int chosen;
    const int row = get_group_id(0), lane = get_local_id(0), lanes = get_local_size(0);
    boxes += BOX_NUMBERS * ((long)(row / classes) * batch_step + (long)(row % classes) * class_step);
    values += (long)row * length;
    kept += (long)row * max_kept;
    kept_scores += (long)row * max_kept;
    const float sigma = limits[2], least = limits[1], highest = limited || !(sigma > 0) ? limits[0] : INFINITY;
    for (int number = lane; number < length; number += lanes) {
        const float score = SCORE_LOAD(scores, (long)row * length + number);
        values[number] = score > least ? score : NAN;
    }
    int kept_count = 0;
    for (bool more = true; more && kept_count < max_kept;) {
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
                kept[kept_count] = chosen;
                kept_scores[kept_count] = best_values[best];
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        const int taken = chosen;
        more = taken >= 0;
        kept_count += more;
        const Box best = box_at(boxes, max(taken, 0) * box_step);
        for (int number = lane; more && number < length; number += lanes) {
            const float overlap = iou(best, box_at(boxes, number * box_step));
            const float value = sigma > 0 ? values[number] * exp(-0.5f / sigma * overlap * overlap) : values[number];
            const bool stays = number != taken && value > least && overlap <= highest;
            values[number] = stays ? value : NAN;
        }
    }
    for (int place = kept_count + lane; place < max_kept; place += lanes) {
        kept[place] = -1;
        kept_scores[place] = -INFINITY;
    }
}

// The scores of kept indices; -inf for padding.
kernel void gather_scores(global const SCORE *restrict scores, global const int *restrict kept,
                          global SCORE_VALUE *restrict values, const int length, const int max_kept, const int count)
{
    const int item = get_global_id(0);
    if (item < count)
        values[item] = kept[item] < 0 ? -INFINITY : SCORE_LOAD(scores, item / max_kept * length + kept[item]);
}
