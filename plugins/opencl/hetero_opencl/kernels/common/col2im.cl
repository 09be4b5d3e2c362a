// col2im: add columns [planes][kz][ky][kx][depth][height][width] to an image
// [planes][out_depth][out_height][out_width]. A work-item computes a row of the image. RIGHT, RESULT: the element types
// of columns and image; SUM: the C type of sums (see gemm.cl). STRIDE_X, STRIDE_Y, STRIDE_Z are macros, as divisions
// by arguments take ten times as long. FLAT 1: the depth is 1; divisions by it are omitted.
#if FLAT
#define DEPTH(length) 1
#else
#define DEPTH(length) length
#endif
kernel void col2im(global const RIGHT *restrict columns, global RESULT *restrict image, const int depth,
                   const int height, const int width, const int out_depth, const int out_height,
                   const int out_width, const int kernel_depth, const int kernel_height, const int kernel_width,
                   const int dilation_z, const int dilation_y, const int dilation_x, const int pad_z,
                   const int pad_y, const int pad_x, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    const int y = item % out_height + pad_y, z = item / out_height % DEPTH(out_depth) + pad_z;
    const int plane = item / out_height / DEPTH(out_depth);
    for (int column = 0; column < out_width; column++) {
        const int x = column + pad_x;
        SUM sum = 0;
        for (int kz = 0; kz < DEPTH(kernel_depth); kz++) {
            const int from_z = z - kz * dilation_z;
            if (from_z < 0 || from_z % STRIDE_Z || from_z / STRIDE_Z >= depth)
                continue;
            for (int ky = 0; ky < kernel_height; ky++) {
                const int from_y = y - ky * dilation_y;
                if (from_y < 0 || from_y % STRIDE_Y || from_y / STRIDE_Y >= height)
                    continue;
                const int patches = ((plane * DEPTH(kernel_depth) + kz) * kernel_height + ky) * kernel_width;
                const long row = (long)(from_z / STRIDE_Z) * height + from_y / STRIDE_Y;
                for (int kx = 0; kx < kernel_width; kx++) {
                    const int from_x = x - kx * dilation_x;
                    if (from_x < 0 || from_x % STRIDE_X || from_x / STRIDE_X >= width)
                        continue;
                    const long first = ((long)(patches + kx) * DEPTH(depth) * height + row) * width;
                    sum += (SUM)RIGHT_LOAD(columns, first + from_x / STRIDE_X);
                }
            }
        }
        RESULT_STORE(sum, item * out_width + column, image);
    }
}
