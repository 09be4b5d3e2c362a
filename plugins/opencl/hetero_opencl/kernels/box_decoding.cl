// Boxes of VALUE moved by offsets.
#pragma OPENCL FP_CONTRACT OFF

// A box moved by the first two offsets, with sides grown by exp of the last two, which are `largest` at most. `border`
// is 1 where the far corner belongs to the box; it does not to the one that comes out.
void move_box(VALUE *box, const VALUE *offsets, const VALUE border, const VALUE largest)
{
    for (int axis = 0; axis < 2; axis++) {
        const VALUE side = box[axis + 2] - box[axis] + border;
        const VALUE center = box[axis] + side / 2 + offsets[axis] * side;
        const VALUE half_side = exp(fmin(offsets[axis + 2], largest)) * side / 2;
        box[axis] = center - half_side;
        box[axis + 2] = center + half_side;
    }
}

VALUE clipped(const VALUE x, const VALUE limit)
{
    return fmin(fmax(x, (VALUE)0), limit);
}
