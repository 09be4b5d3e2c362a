// Depthwise convolution of padded images [planes][depth][height][width]. A work-item computes 16 neighbors in a row.
// LEFT, RIGHT, RESULT: the element types of weights, of images and of results; SUM: the C type of sums
// (see gemm.cl). STEP: the stride along the row, 1 or 2, or 0 for any other. FLAT 1: the depth is 1; divisions by it
// are omitted, because they cost time.
#if FLAT
#define DEPTH(length) 1
#else
#define DEPTH(length) length
#endif
kernel void depthwise(global const RIGHT *restrict image, global const LEFT *restrict weights,
                      global RESULT *restrict out, const int channels, const int multiplier, const int depth,
                      const int height, const int width, const int out_depth, const int out_height, const int out_width,
                      const int kernel_depth, const int kernel_height, const int kernel_width, const int stride_z,
                      const int stride_y, const int stride_x, const int dilation_z, const int dilation_y,
                      const int dilation_x, const int blocks, const int count EPILOGUE_PARAMETERS)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    const int x = item % blocks * 16;
    const int row = item / blocks;
    const int y = row % out_height;
    const int z = row / out_height % DEPTH(out_depth);
    const int plane = row / out_height / DEPTH(out_depth);
    const int channel = plane % channels;
    image += (((long)(plane / multiplier) * depth + z * stride_z) * height + y * stride_y) * width + x * stride_x;
    weights += (long)channel * DEPTH(kernel_depth) * kernel_height * kernel_width;
    SUM16 sum = (SUM16)((SUM)0);
    for (int kz = 0; kz < DEPTH(kernel_depth); kz++) {
        for (int ky = 0; ky < kernel_height; ky++) {
            global const RIGHT *line = image + ((long)kz * dilation_z * height + ky * dilation_y) * width;
            for (int kx = 0; kx < kernel_width; kx++) {
                global const RIGHT *at = line + kx * dilation_x;
#if STEP == 1
                const SUM16 values = WIDEN_RIGHT(RIGHT_LOAD16(at));
#elif STEP == 2
                const SUM16 first = WIDEN_RIGHT(RIGHT_LOAD16(at)), second = WIDEN_RIGHT(RIGHT_LOAD16(at + 16));
                const SUM16 values = (SUM16)(first.even, second.even);
#else
#define AT(n) (SUM)RIGHT_LOAD(at, n * stride_x)
                const SUM16 values = (SUM16)(AT(0), AT(1), AT(2), AT(3), AT(4), AT(5), AT(6), AT(7), AT(8), AT(9),
                                             AT(10), AT(11), AT(12), AT(13), AT(14), AT(15));
#endif
                sum = sum + (SUM)LEFT_LOAD(weights, kx) * values;
            }
            weights += kernel_width;
        }
    }
    const int first = row * out_width + x;
    sum = EPILOGUE(sum, first, channel);
    out += first;
    if (x + 16 <= out_width) {
        RESULT_STORE16(NARROW(sum), out);
    } else {
        const SUM rest[16] = {sum.s0, sum.s1, sum.s2, sum.s3, sum.s4, sum.s5, sum.s6, sum.s7,
                              sum.s8, sum.s9, sum.sa, sum.sb, sum.sc, sum.sd, sum.se, sum.sf};
        for (int n = 0; x + n < out_width; n++)
            RESULT_STORE(rest[n], n, out);
    }
}
