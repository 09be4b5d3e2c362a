// Intersection over union (IoU) of two boxes, given as (left, top, right, bottom). INCLUSIVE 1: the far corner is
// inclusive, a pixel of the box. BOX is the element type.

// Without contraction an IoU equal to the threshold is rounded in the same way on every device.
#pragma OPENCL FP_CONTRACT OFF

#define BOX_NUMBERS 4

typedef struct {
    BOX_VALUE left, top, right, bottom;
} Box;

Box box_at(global const BOX *boxes, const int number)
{
    const long first = (long)number * 4;
    const Box box = {BOX_LOAD(boxes, first), BOX_LOAD(boxes, first + 1), BOX_LOAD(boxes, first + 2),
                     BOX_LOAD(boxes, first + 3)};
    return box;
}

BOX_VALUE iou(const Box a, const Box b)
{
    const BOX_VALUE border = INCLUSIVE;
    const BOX_VALUE width = min(a.right, b.right) - max(a.left, b.left) + border;
    const BOX_VALUE height = min(a.bottom, b.bottom) - max(a.top, b.top) + border;
    const BOX_VALUE area_a = (a.right - a.left + border) * (a.bottom - a.top + border);
    const BOX_VALUE area_b = (b.right - b.left + border) * (b.bottom - b.top + border);
#if INCLUSIVE
    if (a.left > b.right || a.top > b.bottom || b.left > a.right || b.top > a.bottom)
        return 0;
#endif
    if (!(area_a > 0) || !(area_b > 0))
        return 0;
    const BOX_VALUE shared = max(width, (BOX_VALUE)0) * max(height, (BOX_VALUE)0);
    return shared / (area_a + area_b - shared);
}
