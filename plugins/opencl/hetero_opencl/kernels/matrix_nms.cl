// MatrixNms: the scores of a row of candidates in an order, made smaller by how much better ones overlap them, all at
// once. overlap_of stands in a text of its own.

// For each candidate the largest overlap with a better one.
kernel void find_largest(global const BOX *restrict boxes, global const int *restrict order,
                         global const int *restrict gone, global float *restrict largest, const int length,
                         const int classes, const int count)
{
    const int item = get_global_id(0);
    if (item >= count || gone[item])
        return;
    const int row = item / length;
    boxes += (long)(row / classes) * length * BOX_NUMBERS;
    order += (long)row * length;
    const Box own = box_at(boxes, order[item % length]);
    float found = 0;
    for (int better = 0; better < item % length; better++)
        found = max(found, overlap_of(own, box_at(boxes, order[better])));
    largest[item] = found;
}

// Each candidate with its new score, if that is above the limit, at its own number in its row; -1 and a score below all
// others where there is none.
kernel void decay_scores(global const BOX *restrict boxes, global const float *restrict scores,
                         global const int *restrict order, global const int *restrict gone,
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
    if (!gone[item]) {
        const Box own = box_at(boxes, number);
        for (int better = 0; better < item % length; better++) {
            const float overlap = overlap_of(own, box_at(boxes, order[first + better])), most = largest[first + better];
            decay = min(decay, gaussian ? exp((most * most - overlap * overlap) * sigma)
                                        : (1 - overlap) / (1 - most + 1e-10f));
        }
    }
    const float value = scores[first + number] * decay;
    const bool good = !gone[item] && value > limit;
    kept[first + number] = good ? number : -1;
    values[first + number] = good ? value : -INFINITY;
}
