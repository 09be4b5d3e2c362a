// Decoding of boxes from offsets (deltas).
#pragma OPENCL FP_CONTRACT OFF

// Decode a box in place. The first two offsets shift its center, in units of its size; exp of the last two, limited to
// `largest`, scales its size. `border` is 1 if the far corner is inclusive; that of the result is exclusive.
void decode_box(VALUE *box, const VALUE *offsets, const VALUE border, const VALUE largest)
{
    for (int axis = 0; axis < 2; axis++) {
        const VALUE side = box[axis + 2] - box[axis] + border;
        const VALUE center = box[axis] + side / 2 + offsets[axis] * side;
        const VALUE log_size = offsets[axis + 2];
        const VALUE half_side = exp(log_size > largest ? largest : log_size) * side / 2;
        box[axis] = center - half_side;
        box[axis + 2] = center + half_side;
    }
}

VALUE clipped(const VALUE x, const VALUE limit)
{
    return x < 0 ? 0 : x > limit ? limit : x;  // NaN stays
}
