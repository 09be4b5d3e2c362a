// How much two boxes overlap: the part that they share of what both cover. OVERLAP 0: boxes are two opposite corners,
// the one with the smaller coordinates first. 1: the corners are pixels that belong to the box. BOX is the element
// type.

// Overlaps that are the same as a threshold are rounded as elsewhere.
#pragma OPENCL FP_CONTRACT OFF

#define BOX_NUMBERS 4

typedef struct {
    BOX_VALUE left, top, right, bottom;
} Box;

Box box_at(global const BOX *boxes, const int number)
{
    const long place = (long)number * 4;
    const Box box = {BOX_LOAD(boxes, place), BOX_LOAD(boxes, place + 1), BOX_LOAD(boxes, place + 2),
                     BOX_LOAD(boxes, place + 3)};
    return box;
}

BOX_VALUE overlap_of(const Box a, const Box b)
{
    const BOX_VALUE border = OVERLAP;
    const BOX_VALUE width = min(a.right, b.right) - max(a.left, b.left) + border;
    const BOX_VALUE height = min(a.bottom, b.bottom) - max(a.top, b.top) + border;
    const BOX_VALUE area_a = (a.right - a.left + border) * (a.bottom - a.top + border);
    const BOX_VALUE area_b = (b.right - b.left + border) * (b.bottom - b.top + border);
#if OVERLAP
    if (a.left > b.right || a.top > b.bottom || b.left > a.right || b.top > a.bottom)
        return 0;
#endif
    if (!(area_a > 0) || !(area_b > 0))
        return 0;
    const BOX_VALUE shared = max(width, (BOX_VALUE)0) * max(height, (BOX_VALUE)0);
    return shared / (area_a + area_b - shared);
}
