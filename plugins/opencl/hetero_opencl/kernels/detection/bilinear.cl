// Bilinear samples of a plane [height][width] of DATA.

// Without contraction, points on the border of an image are rounded in the same way on every device.
#pragma OPENCL FP_CONTRACT OFF

typedef struct {
    int top_left, top_right, bottom_left, bottom_right;
    DATA_VALUE weights[4];
} Corners;

// The four elements around a point, and their weights. Points outside are clamped to the border.
Corners corners_of(const DATA_VALUE y_in, const DATA_VALUE x_in, const int height, const int width)
{
    const DATA_VALUE y = fmin(fmax(y_in, (DATA_VALUE)0), (DATA_VALUE)(height - 1));
    const DATA_VALUE x = fmin(fmax(x_in, (DATA_VALUE)0), (DATA_VALUE)(width - 1));
    const int top = (int)floor(y), left = (int)floor(x);
    const int bottom = min(top + 1, height - 1), beside = min(left + 1, width - 1);
    const DATA_VALUE low = y - top, right = x - left;
    const Corners corners = {top * width + left,
                             top * width + beside,
                             bottom * width + left,
                             bottom * width + beside,
                             {(1 - low) * (1 - right), (1 - low) * right, low * (1 - right), low * right}};
    return corners;
}

DATA_VALUE bilinear(global const DATA *plane, const Corners c)
{
    return DATA_LOAD(plane, c.top_left) * c.weights[0] + DATA_LOAD(plane, c.top_right) * c.weights[1] +
           DATA_LOAD(plane, c.bottom_left) * c.weights[2] + DATA_LOAD(plane, c.bottom_right) * c.weights[3];
}

// NaN is larger than all.
DATA_VALUE larger(const DATA_VALUE a, const DATA_VALUE b)
{
    return a > b || a != a ? a : b;
}

// The largest of the four weighted elements.
DATA_VALUE largest_term(global const DATA *plane, const Corners c)
{
    const DATA_VALUE above = larger(DATA_LOAD(plane, c.top_left) * c.weights[0],
                                    DATA_LOAD(plane, c.top_right) * c.weights[1]);
    return larger(above, larger(DATA_LOAD(plane, c.bottom_left) * c.weights[2],
                                DATA_LOAD(plane, c.bottom_right) * c.weights[3]));
}
