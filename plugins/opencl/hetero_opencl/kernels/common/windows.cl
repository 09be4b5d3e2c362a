// im2col and padding. WORD is the C type that moves one element; elements outside of the data are `outside`. LANES
// work-items write a row together, each every LANESth element. FLAT 1: the depth is 1; divisions by it are omitted,
// because they cost time.
#if FLAT
#define DEPTH(length) 1
#else
#define DEPTH(length) length
#endif

// Write a lane's part of a row of `count` elements: to[x] = from[x * step + left], or `outside` if that index is not
// within the width.
static inline void copy_row(global const WORD *from, global WORD *to, const int left, const int step, const int width,
                            const int count, const WORD outside, const int lane)
{
#if LANES > 1
    for (int x = lane; x < count; x += LANES) {
        const int place = x * step + left;
        to[x] = place >= 0 && place < width ? from[place] : outside;
    }
#else
    // The elements first … last - 1 are inside.
    const int first = min(count, left >= 0 ? 0 : (-left + step - 1) / step);
    const int last = max(first, min(count, (width - left + step - 1) / step));
    for (int x = 0; x < first; x++)
        to[x] = outside;
    if (step == 1) {
        for (int x = first; x < last; x++)
            to[x] = from[left + x];
    } else {
        for (int x = first; x < last; x++)
            to[x] = from[left + x * step];
    }
    for (int x = last; x < count; x++)
        to[x] = outside;
#endif
}

// im2col: images [outer][inner][depth][height][width] to columns
// [outer][kz][ky][kx][inner][out_depth][out_height][out_width].
kernel void im2col(global const WORD *restrict image, global WORD *restrict columns, const WORD outside,
                   const int inner, const int depth, const int height, const int width, const int out_depth,
                   const int out_height, const int out_width, const int kernel_depth, const int kernel_height,
                   const int kernel_width, const int stride_z, const int stride_y, const int stride_x,
                   const int dilation_z, const int dilation_y, const int dilation_x, const int pad_z, const int pad_y,
                   const int pad_x, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    const int line = item / LANES;
    int rest = line;
    const int out_y = rest % out_height;
    rest /= out_height;
    const int out_z = rest % DEPTH(out_depth);
    rest /= DEPTH(out_depth);
    const int channel = rest % inner;
    rest /= inner;
    const int kx = rest % kernel_width;
    rest /= kernel_width;
    const int ky = rest % kernel_height;
    rest /= kernel_height;
    const int kz = rest % DEPTH(kernel_depth);
    const int plane = rest / DEPTH(kernel_depth) * inner + channel;
    const int z = out_z * stride_z + kz * dilation_z - pad_z;
    const int y = out_y * stride_y + ky * dilation_y - pad_y;
    const bool is_inside = z >= 0 && z < depth && y >= 0 && y < height;
    const long row = ((long)plane * depth + z) * height + y;
    copy_row(image + (is_inside ? row * width : 0), columns + (long)line * out_width, kx * dilation_x - pad_x, stride_x,
             is_inside ? width : 0, out_width, outside, item % LANES);
}

// Pad images [planes][depth][height][width] to [planes][out_depth][out_height][out_width].
kernel void padded(global const WORD *restrict image, global WORD *restrict out, const WORD outside, const int depth,
                   const int height, const int width, const int out_depth, const int out_height, const int out_width,
                   const int pad_z, const int pad_y, const int pad_x, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    const int line = item / LANES;
    const int y = line % out_height - pad_y;
    const int z = line / out_height % DEPTH(out_depth) - pad_z;
    const bool is_inside = z >= 0 && z < depth && y >= 0 && y < height;
    const long row = ((long)(line / out_height / DEPTH(out_depth)) * depth + z) * height + y;
    copy_row(image + (is_inside ? row * width : 0), out + (long)line * out_width, -pad_x, 1, is_inside ? width : 0,
             out_width, outside, item % LANES);
}
