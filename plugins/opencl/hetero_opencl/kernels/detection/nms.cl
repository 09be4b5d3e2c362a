// Preparation of the inputs of NonMaxSuppression.
#pragma OPENCL FP_CONTRACT OFF

// Convert boxes to (min, min, max, max) corners, from any two opposite corners, or if `centered` from center and size.
kernel void find_corners(global const DATA *restrict boxes, global float *restrict corners, const int centered,
                         const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    for (int axis = item * 4; axis < item * 4 + 2; axis++) {
        const float a = DATA_LOAD(boxes, axis), b = DATA_LOAD(boxes, axis + 2);
        const float first = centered ? a - b / 2 : a, second = centered ? a + b / 2 : b;
        corners[axis] = min(first, second);
        corners[axis + 2] = max(first, second);
    }
}

// Copy one limit from an input of one element.
kernel void set_limit(global const DATA *restrict input, global LIMIT *restrict limits, const int index,
                      const int count)
{
    if (get_global_id(0) < count)
        limits[index] = DATA_LOAD(input, 0);
}
