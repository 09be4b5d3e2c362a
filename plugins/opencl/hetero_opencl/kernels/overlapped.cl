// col2im: add columns [planes][kz][ky][kx][depth][height][width] to an image
// [planes][out_depth][out_height][out_width]. A work-item computes one element of the image. RIGHT, RESULT: the element
// types of columns and image; SUM: the C type of sums (see product.cl). FLAT 1: the depth is 1; divisions by it are
// omitted, because they cost time.
#if FLAT
#define DEPTH(length) 1
#else
#define DEPTH(length) length
#endif
kernel void overlapped(global const RIGHT *restrict columns, global RESULT *restrict image, const int depth,
                       const int height, const int width, const int out_depth, const int out_height,
                       const int out_width, const int kernel_depth, const int kernel_height, const int kernel_width,
                       const int stride_z, const int stride_y, const int stride_x, const int dilation_z,
                       const int dilation_y, const int dilation_x, const int pad_z, const int pad_y, const int pad_x,
                       const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    const int x = item % out_width + pad_x;
    const int y = item / out_width % out_height + pad_y;
    const int z = item / out_width / out_height % DEPTH(out_depth) + pad_z;
    const int plane = item / out_width / out_height / DEPTH(out_depth);
    SUM sum = 0;
    for (int kz = 0; kz < DEPTH(kernel_depth); kz++) {
        const int from_z = z - kz * dilation_z;
        if (from_z < 0 || from_z % stride_z || from_z / stride_z >= depth)
            continue;
        for (int ky = 0; ky < kernel_height; ky++) {
            const int from_y = y - ky * dilation_y;
            if (from_y < 0 || from_y % stride_y || from_y / stride_y >= height)
                continue;
            for (int kx = 0; kx < kernel_width; kx++) {
                const int from_x = x - kx * dilation_x;
                if (from_x < 0 || from_x % stride_x || from_x / stride_x >= width)
                    continue;
                const long patch = (((long)plane * DEPTH(kernel_depth) + kz) * kernel_height + ky) * kernel_width + kx;
                const long row = (patch * DEPTH(depth) + from_z / stride_z) * height + from_y / stride_y;
                sum += (SUM)RIGHT_LOAD(columns, row * width + from_x / stride_x);
            }
        }
    }
    RESULT_STORE(sum, item, image);
}
