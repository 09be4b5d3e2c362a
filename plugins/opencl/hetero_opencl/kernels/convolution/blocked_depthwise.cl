// Depthwise convolution (one filter per channel) of channel blocks (see channel_blocks.cl, which precedes this text). A
// work-item computes I positions along the row of one block; I must not exceed out_width. Filters are
// [C/BLOCK][kz][ky][kx][BLOCK]. DATA, FILTER, RESULT: element types; sums are float.
// STRIDE, DILATION: along the row. TAPS: filter elements along the row whose products are added while an element of the
// image is in a register; it divides kernel_x. MARGIN: how many positions at either end of SPAN may be beyond the
// image.
// Global size: [tiles along the row, any number, blocks times batches]: the second is the number of parts into
// which the rows of a block are divided. Work-groups of one. The fewer the faster (a work-group costs 15 to 35 ns), if
// all cores have work.

// The positions of the image that TAPS filter elements read for a tile.
#define SPAN ((I - 1) * STRIDE + (TAPS - 1) * DILATION + 1)
// Add the products of positions `first` to `last` - 1: a loop for each condition, because not all compilers
// unroll one with conditions for some positions; that takes twice the time.
#define ADD_POSITIONS(first, last, condition)                                                 \
    _Pragma("unroll")                                                                         \
    for (int p = first; p < last; p++) {                                                      \
        if (condition) {                                                                      \
            const VECTOR value = LOAD_DATA(values + p * BLOCK);                               \
            _Pragma("unroll")                                                                 \
            for (int tap = 0; tap < TAPS; tap++) {                                            \
                const int at = p - tap * DILATION;                                            \
                if (at >= 0 && at % STRIDE == 0 && at / STRIDE < I)                           \
                    sums[at / STRIDE] = value * factors[tap] + sums[at / STRIDE];             \
            }                                                                                 \
        }                                                                                     \
    }

kernel void blocked_depthwise(global const DATA *restrict image, global const FILTER *restrict filters,
                              global RESULT *restrict out, WINDOW_PARAMETERS, const int batches
                              EPILOGUE_PARAMETERS)
{
    const int x = min((int)get_global_id(0) * I, out_width - I), skipped = get_global_id(0) * I - x;
    const int plane = get_global_id(2), channel = plane / batches * BLOCK;
    const int left = x * STRIDE - pad_x, rows = out_depth * out_height;
    const int end = (long)rows * (get_global_id(1) + 1) / get_global_size(1);
    image += (long)plane * depth * height * width * BLOCK;
    filters += channel * kernel_z * kernel_y * kernel_x;
    for (int row = (long)rows * get_global_id(1) / get_global_size(1); row < end; row++) {
        const int front = row / out_height * stride_z - pad_z, top = row % out_height * stride_y - pad_y;
        const int first_z = first_inside(front, dilation_z), end_z = end_inside(front, dilation_z, depth, kernel_z);
        const int first_y = first_inside(top, dilation_y), end_y = end_inside(top, dilation_y, height, kernel_y);
        VECTOR sums[I];
        #pragma unroll
        for (int i = 0; i < I; i++)
            sums[i] = 0;

        for (int kz = first_z; kz < end_z; kz++) {
            for (int ky = first_y; ky < end_y; ky++) {
                const int in_z = front + kz * dilation_z, in_y = top + ky * dilation_y;
                global const DATA *values = image + (((long)in_z * height + in_y) * width + left) * BLOCK;
                for (int kx = 0; kx < kernel_x; kx += TAPS) {
                    VECTOR factors[TAPS];
                    #pragma unroll
                    for (int tap = 0; tap < TAPS; tap++)
                        factors[tap] = LOAD_FILTER(filters + ((kz * kernel_y + ky) * kernel_x + kx + tap) * BLOCK);
                    const int begin = left + kx * DILATION;
                    ADD_POSITIONS(0, MARGIN, begin + p >= 0 && begin + p < width)
                    ADD_POSITIONS(MARGIN, SPAN - MARGIN, true)
                    ADD_POSITIONS(max(MARGIN, SPAN - MARGIN), SPAN, begin + p >= 0 && begin + p < width)
                    values += TAPS * DILATION * BLOCK;
                }
            }
        }

        const long first = (((long)plane * rows + row) * out_width + x) * BLOCK;
        #pragma unroll
        for (int i = 0; i < I; i++) {
            const long at = first + i * BLOCK;
            if (i >= skipped)
                STORE_RESULT(EPILOGUE(sums[i], at, channel), out + at);
        }
    }
}
