// Max and average pooling of channel blocks (see channel_blocks.cl, which precedes this text). A work-item computes I
// positions along the row of one block; I must not exceed out_width. STRIDE: stride along the row. EDGE: how many
// positions at either end of a row have windows that reach beyond the image along the row. IS_MAX 1: maximum, NaN if
// there is one, and START for windows outside of the image; else the mean over the elements of the window in the image,
// or with COUNT_PADDING over all `size` elements of the window. DATA, RESULT: element types; values are float.
// Global size: [tiles along the row, any number, blocks times batches]: the second is the number of parts into
// which the rows of a block are divided. Work-groups of one. The fewer the faster (a work-group costs 15 to 35 ns), if
// all cores have work.
#if IS_MAX
#define INITIAL START
#define TAKE(result, value) select(result, value, (INTEGERS)((value > result) | (value != value)))
#else
#define INITIAL 0
#define TAKE(result, value) (result + value)
#endif

// The number of elements of a window along one axis that are in the image; `at` is the position of the first element.
static inline int count_inside(const int at, const int dilation, const int length, const int kernel_size)
{
    return end_inside(at, dilation, length, kernel_size) - first_inside(at, dilation);
}

kernel void blocked_pooling(global const DATA *restrict image, global RESULT *restrict out, WINDOW_PARAMETERS,
                            const int size, const int batches EPILOGUE_PARAMETERS)
{
    const int x = min((int)get_global_id(0) * I, out_width - I), skipped = get_global_id(0) * I - x;
    const int plane = get_global_id(2), channel = plane / batches * BLOCK;
    const int left = x * STRIDE - pad_x, rows = out_depth * out_height;
    const int end = (long)rows * (get_global_id(1) + 1) / get_global_size(1);
    image += (long)plane * depth * height * width * BLOCK;
    for (int row = (long)rows * get_global_id(1) / get_global_size(1); row < end; row++) {
        const int front = row / out_height * stride_z - pad_z, top = row % out_height * stride_y - pad_y;
        const int first_z = first_inside(front, dilation_z), end_z = end_inside(front, dilation_z, depth, kernel_z);
        const int first_y = first_inside(top, dilation_y), end_y = end_inside(top, dilation_y, height, kernel_y);
        VECTOR results[I];
        #pragma unroll
        for (int i = 0; i < I; i++)
            results[i] = INITIAL;

        for (int kz = first_z; kz < end_z; kz++) {
            for (int ky = first_y; ky < end_y; ky++) {
                const int in_z = front + kz * dilation_z, in_y = top + ky * dilation_y;
                global const DATA *values = image + (((long)in_z * height + in_y) * width + left) * BLOCK;
                for (int kx = 0; kx < kernel_x; kx++) {
                    #pragma unroll
                    for (int i = 0; i < I; i++) {
                        const int in_x = left + kx * dilation_x + i * STRIDE;
                        if (IS_INNER(i) || (in_x >= 0 && in_x < width)) {
                            const VECTOR value = LOAD_DATA(values + i * STRIDE * BLOCK);
                            results[i] = TAKE(results[i], value);
                        }
                    }
                    values += dilation_x * BLOCK;
                }
            }
        }

        const long first = (((long)plane * rows + row) * out_width + x) * BLOCK;
        #pragma unroll
        for (int i = 0; i < I; i++) {
            const long at = first + i * BLOCK;
#if !IS_MAX && COUNT_PADDING
            results[i] *= 1.0f / size;
#elif !IS_MAX
            const int columns = count_inside(left + i * STRIDE, dilation_x, width, kernel_x);
            results[i] *= 1.0f / max((end_z - first_z) * (end_y - first_y) * columns, 1);
#endif
            if (i >= skipped)
                STORE_RESULT(EPILOGUE(results[i], at, channel), out + at);
        }
    }
}
