// Max and average pooling of channel blocks (see channel_blocks.cl, which precedes this text). A work-item computes I
// positions along the row of one block; I must not exceed out_width. STRIDE: stride along the row. IS_MAX 1: maximum,
// NaN if there is one, and START for windows outside of the image; else the mean over the elements of the window in the
// image, or with COUNT_PADDING over all `size` elements of the window. DATA, RESULT: element types; values are float.
// Global size: tiles along the row, rows of a block (out_depth * out_height), blocks times batches.
#if IS_MAX
#define INITIAL START
#define TAKE(result, value) select(result, value, (INTEGERS)((value > result) | (value != value)))
#else
#define INITIAL 0
#define TAKE(result, value) (result + value)
#endif

// The number of elements of a window along one axis that are in the image; `at` is the first.
inline int count_inside(const int at, const int kernel_size, const int dilation, const int length)
{
    int count = 0;
    for (int k = 0; k < kernel_size; k++)
        count += at + k * dilation >= 0 && at + k * dilation < length;
    return count;
}

kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void blocked_pooling(global const DATA *restrict image, global RESULT *restrict out,
                     const int depth, const int height, const int width,
                     const int out_depth, const int out_height, const int out_width,
                     const int kernel_z, const int kernel_y, const int kernel_x, const int stride_z,
                     const int stride_y, const int dilation_z, const int dilation_y, const int dilation_x,
                     const int pad_z, const int pad_y, const int pad_x, const int size, const int batches
                     EPILOGUE_PARAMETERS)
{
    const int x = min((int)get_global_id(0) * I, out_width - I), skipped = get_global_id(0) * I - x;
    const int row = get_global_id(1), y = row % out_height, z = row / out_height;
    const int plane = get_global_id(2), channel = plane / batches * BLOCK;
    const int front = z * stride_z - pad_z, top = y * stride_y - pad_y, left = x * STRIDE - pad_x;
    const int is_inside = left >= 0 && left + (I - 1) * STRIDE + (kernel_x - 1) * dilation_x < width;
    image += (long)plane * depth * height * width * BLOCK;
    VECTOR results[I];
    #pragma unroll
    for (int i = 0; i < I; i++)
        results[i] = INITIAL;

    for (int k = 0; k < kernel_z * kernel_y; k++) {
        const int in_z = front + k / kernel_y * dilation_z, in_y = top + k % kernel_y * dilation_y;
        if (in_z < 0 || in_z >= depth || in_y < 0 || in_y >= height)
            continue;
        global const DATA *values = image + (((long)in_z * height + in_y) * width + left) * BLOCK;
        for (int kx = 0; kx < kernel_x; kx++) {
            const int in_x = left + kx * dilation_x;
            #pragma unroll
            for (int i = 0; i < I; i++) {
                if (is_inside || (in_x + i * STRIDE >= 0 && in_x + i * STRIDE < width)) {
                    const VECTOR value = LOAD_DATA(values + i * STRIDE * BLOCK);
                    results[i] = TAKE(results[i], value);
                }
            }
            values += dilation_x * BLOCK;
        }
    }

#if !IS_MAX && !COUNT_PADDING
    const int rows = count_inside(front, kernel_z, dilation_z, depth) * count_inside(top, kernel_y, dilation_y, height);
#endif
    const long first = (((long)plane * out_depth * out_height + row) * out_width + x) * BLOCK;
    #pragma unroll
    for (int i = 0; i < I; i++) {
        const long at = first + i * BLOCK;
#if !IS_MAX && COUNT_PADDING
        results[i] /= (float)size;
#elif !IS_MAX
        results[i] /= (float)max(rows * count_inside(left + i * STRIDE, kernel_x, dilation_x, width), 1);
#endif
        if (i >= skipped)
            STORE_RESULT(EPILOGUE(results[i], at, channel), out + at);
    }
}
