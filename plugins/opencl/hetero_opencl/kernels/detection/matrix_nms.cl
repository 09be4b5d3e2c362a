// MatrixNms: the scores of sorted candidates decay with their overlaps (IoU) with better ones, all computed at once.
// iou comes from iou.cl. largest[i] = largest overlap of candidate i with a better one.
kernel void find_largest(global const BOX *restrict boxes, global const int *restrict order,
                         global const int *restrict suppressed, global float *restrict largest, const int length,
                         const int classes, const int count)
{
    const int item = get_global_id(0);
    if (item >= count || suppressed[item])
        return;
    const int row = item / length;
    boxes += (long)(row / classes) * length * BOX_NUMBERS;
    order += (long)row * length;
    const Box own = box_at(boxes, order[item % length]);
    float found = 0;
    for (int better = 0; better < item % length; better++)
        found = max(found, iou(own, box_at(boxes, order[better])));
    largest[item] = found;
}

// Write the index and the decayed score of each candidate above `limit` at its own index in the row; -1 and -inf for
// others.
kernel void decay_scores(global const BOX *restrict boxes, global const float *restrict scores,
                         global const int *restrict order, global const int *restrict suppressed,
                         global const float *restrict largest, global int *restrict kept, global float *restrict values,
                         const int length, const int classes, const int gaussian, const float sigma, const float limit,
                         const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    const int row = item / length, number = order[item];
    const long first = (long)row * length;
    boxes += (long)(row / classes) * length * BOX_NUMBERS;
    float decay = 1;
    if (!suppressed[item]) {
        const Box own = box_at(boxes, number);
        for (int better = 0; better < item % length; better++) {
            const float overlap = iou(own, box_at(boxes, order[first + better])), larger = largest[first + better];
            decay = min(decay, gaussian ? exp((larger * larger - overlap * overlap) * sigma)
                                        : (1 - overlap) / (1 - larger + 1e-10f));
        }
    }
    const float value = scores[first + number] * decay;
    const bool good = !suppressed[item] && value > limit;
    kept[first + number] = good ? number : -1;
    values[first + number] = good ? value : -INFINITY;
}
