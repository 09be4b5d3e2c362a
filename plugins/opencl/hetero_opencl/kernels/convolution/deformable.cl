// Deformable im2col: columns [batch][channels][kernel][positions] of type SUM, sampled bilinearly from images
// [batch][channels][height][width] at positions shifted by offsets [batch][group][kernel][2][positions] and, with
// MASKED 1, multiplied by mask [batch][group][kernel][positions]. Samples outside of the image are 0. BORDER 1: the
// image is surrounded by zeros with which samples next to it are interpolated. One work-item per element.
kernel void deformable(global const DATA *restrict image, global const DATA *restrict offsets,
#if MASKED
                       global const DATA *restrict mask,
#endif
                       global SUM *restrict columns, const int channels, const int groups, const int height,
                       const int width, const int out_height, const int out_width, const int kernel_height,
                       const int kernel_width, const int stride_y, const int stride_x, const int dilation_y,
                       const int dilation_x, const int pad_y, const int pad_x, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    const int positions = out_height * out_width, elements = kernel_height * kernel_width;
    const int position = item % positions, element = item / positions % elements;
    const int plane = item / positions / elements;
    const int batch = plane / channels, group = plane % channels / (channels / groups);
    const long moved = ((long)batch * groups + group) * elements + element;
    const int down = element / kernel_width * dilation_y - pad_y + position / out_width * stride_y;
    const int along = element % kernel_width * dilation_x - pad_x + position % out_width * stride_x;
    SUM y = DATA_LOAD(offsets, 2 * moved * positions + position) + (SUM)down;
    SUM x = DATA_LOAD(offsets, (2 * moved + 1) * positions + position) + (SUM)along;
    SUM sample = 0;
#if BORDER
    const bool is_inside = y > -1 && y < height && x > -1 && x < width;
#else
    const bool is_inside = y >= 0 && y < height && x >= 0 && x < width;
    y = fmin(y, (SUM)(height - 1));
    x = fmin(x, (SUM)(width - 1));
#endif
    if (is_inside) {
        image += (long)plane * height * width;
        const int top = floor(y), left = floor(x);
        const SUM low = y - top, right = x - left;
        // A sample exactly on the last row or column has no element after it; that weight is 0.
        const bool has_top = top >= 0, has_bottom = top + 1 < height;
        const bool has_left = left >= 0, has_right = left + 1 < width;
#define AT(exists, dy, dx) ((exists) ? DATA_LOAD(image, (top + dy) * width + left + dx) : 0)
        sample = AT(has_top && has_left, 0, 0) * (1 - low) * (1 - right);
        sample += AT(has_top && has_right, 0, 1) * (1 - low) * right;
        sample += AT(has_bottom && has_left, 1, 0) * low * (1 - right);
        sample += AT(has_bottom && has_right, 1, 1) * low * right;
    }
#if MASKED
    sample *= DATA_LOAD(mask, moved * positions + position);
#endif
    columns[item] = sample;
}
