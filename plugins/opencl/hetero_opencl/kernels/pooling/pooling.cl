// Max and average pooling of planes with three spatial axes (missing axes have length 1). The window is given per axis
// by kernel size, stride, dilation and leading padding. IS_MAX 1: maximum, else mean over the elements of the data in
// the window, or with COUNT_PADDING over all `size` elements of the window. A work-item computes one element, or with
// STEP (the stride along x, 1 or 2) 16 neighbors in a row, for types computed as float. DATA is the element type, SUM
// the C type of the accumulator, START its initial value. WHOLE 1: integers of 32 bits or more, whose mean is rounded
// down.
#if IS_MAX
#define IS_BETTER(value, result) ((value > result) | (value != value))
#else
#define ACCUMULATE(result, value) ((result) + (value))
#endif
#ifdef STEP
#define WIDTH 16
#define SUMS float16
#define INTS int16
#define IS_IN(x) ((x >= 0) & (x < width))
#define LANES (int16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
#define TAKE_MAX(result, value) select(result, value, IS_BETTER(value, result))
#else
#define WIDTH 1
#define SUMS SUM
#define INTS int
#define IS_IN(x) (-(x >= 0 && x < width))
#define LANES 0
#define TAKE_MAX(result, value) (IS_BETTER(value, result) ? value : result)
#endif
#if IS_MAX
#define ACCUMULATE TAKE_MAX
#endif

// Load the elements at positions x, of which image[at] is the first; START for positions outside the row.
static inline SUMS load(global const DATA *image, const long at, const long end, const INTS in)
{
#ifdef STEP
    // Buffers have at least 64 elements of slack after their end, and none before their start.
    if (at < 0 || at + 16 * STEP > end + 64) {
        float16 values = START;
        float *value = (float *)&values;
        for (int lane = 0; lane < 16; lane++) {
            const long place = at + lane * STEP;
            value[lane] = place >= 0 && place < end ? DATA_LOAD(image, place) : START;
        }
        return select((float16)START, values, in);
    }
#if STEP == 1
    const float16 values = DATA_LOAD16(image + at);
#else
    const float16 first = DATA_LOAD16(image + at), second = DATA_LOAD16(image + at + 16);
    const float16 values = (float16)(first.even, second.even);
#endif
    return select((float16)START, values, in);
#else
    return DATA_LOAD(image, at);
#endif
}

#if WHOLE && !IS_MAX
static inline DATA_VALUE mean(const DATA_VALUE total, const int valid_count)
{
    const DATA_VALUE count = valid_count;
    return total / count - (total % count < 0);
}
#endif

kernel void pooling(global const DATA *restrict image, global DATA *restrict out,
                    const int depth, const int height, const int width,
                    const int out_depth, const int out_height, const int out_width,
                    const int kernel_z, const int kernel_y, const int kernel_x,
                    const int stride_z, const int stride_y, const int stride_x,
                    const int dilation_z, const int dilation_y, const int dilation_x,
                    const int pad_z, const int pad_y, const int pad_x, const int size, const int planes,
                    const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    const int blocks = (out_width + WIDTH - 1) / WIDTH;
    const int place = item % blocks * WIDTH, row = item / blocks;
    const int left = place * stride_x - pad_x;
    const int top = row % out_height * stride_y - pad_y;
    const int front = row / out_height % out_depth * stride_z - pad_z;
    const int plane = row / out_height / out_depth;
    const long end = (long)planes * depth * height * width;
    SUMS result = START;
    INTS valid_count = 0;
    for (int kz = 0; kz < kernel_z; kz++) {
        const int z = front + kz * dilation_z;
        if (z < 0 || z >= depth)
            continue;
        for (int ky = 0; ky < kernel_y; ky++) {
            const int y = top + ky * dilation_y;
            if (y < 0 || y >= height)
                continue;
            const long start = (((long)plane * depth + z) * height + y) * width;
            for (int kx = 0; kx < kernel_x; kx++) {
                const INTS x = left + kx * dilation_x + LANES * stride_x;
                const INTS in = IS_IN(x);
#ifndef STEP
                if (!in)
                    continue;
#endif
                valid_count -= in;
                const SUMS value = load(image, start + left + kx * dilation_x, end, in);
                result = ACCUMULATE(result, value);
            }
        }
    }
#if !IS_MAX && COUNT_PADDING
    valid_count = size;
#endif
#if !IS_MAX && WIDTH == 16
    result /= convert_float16(max(valid_count, 1));
#elif !IS_MAX && WHOLE
    result = mean((DATA_VALUE)result, max(valid_count, 1));
#elif !IS_MAX
    result /= max(valid_count, 1);
#endif
    out += (long)row * out_width + place;
#if WIDTH == 1
    DATA_STORE(result, 0, out);
#else
    if (place + WIDTH <= out_width) {
        DATA_STORE16(result, out);
    } else {
        const float *value = (const float *)&result;
        for (int lane = 0; lane < out_width - place; lane++)
            DATA_STORE(value[lane], lane, out);
    }
#endif
}
