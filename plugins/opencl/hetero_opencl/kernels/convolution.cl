// What surrounds the products that convolutions are made of.

// The patches of an image [planes][height][width] as columns: [planes][ky][kx][out_height][out_width], with zeros
// where a patch lies outside. One work-item writes one row of one output.
__kernel void patches(__global const float* restrict image, __global float* restrict columns,
                      const int height, const int width, const int out_height, const int out_width,
                      const int kernel_height, const int kernel_width, const int stride_y, const int stride_x,
                      const int dilation_y, const int dilation_x, const int pad_y, const int pad_x, const int count)
{
    const int i = get_global_id(0);
    if (i >= count) return;
    const int out_y = i % out_height;
    const int kx = i / out_height % kernel_width;
    const int ky = i / out_height / kernel_width % kernel_height;
    const int plane = i / out_height / kernel_width / kernel_height;
    const int y = out_y * stride_y + ky * dilation_y - pad_y;
    const int left = kx * dilation_x - pad_x;
    __global float* out = columns + (long)i * out_width;
    if (y < 0 || y >= height) {
        for (int x = 0; x < out_width; x++) out[x] = 0.0f;
        return;
    }
    __global const float* row = image + ((long)plane * height + y) * width;
    // Inside from first up to, and without, last.
    const int first = min(out_width, left >= 0 ? 0 : (-left + stride_x - 1) / stride_x);
    const int last = max(first, min(out_width, (width - left + stride_x - 1) / stride_x));
    for (int x = 0; x < first; x++) out[x] = 0.0f;
    if (stride_x == 1) {
        for (int x = first; x < last; x++) out[x] = row[left + x];
    } else {
        for (int x = first; x < last; x++) out[x] = row[left + x * stride_x];
    }
    for (int x = last; x < out_width; x++) out[x] = 0.0f;
}

// An image [planes][height][width] with zeros around it: [planes][out_height][out_width]. One work-item writes one row.
__kernel void padded(__global const float* restrict image, __global float* restrict out, const int height,
                     const int width, const int out_height, const int out_width, const int pad_y, const int pad_x,
                     const int count)
{
    const int i = get_global_id(0);
    if (i >= count) return;
    const int y = i % out_height - pad_y;
    __global float* to = out + (long)i * out_width;
    if (y < 0 || y >= height) {
        for (int x = 0; x < out_width; x++) to[x] = 0.0f;
        return;
    }
    __global const float* from = image + ((long)(i / out_height) * height + y) * width;
    const int end = min(out_width, pad_x + width);
    for (int x = 0; x < pad_x; x++) to[x] = 0.0f;
    for (int x = pad_x; x < end; x++) to[x] = from[x - pad_x];
    for (int x = end; x < out_width; x++) to[x] = 0.0f;
}

#ifdef STEP
// A convolution of each plane with a kernel of its own, over an image that was padded. One work-item computes 16
// neighbours of a row. STEP is the stride along the row, 0 for any.
__kernel void depthwise(__global const float* restrict image, __global const float* restrict weights,
                        __global const float* restrict bias, __global float* restrict out,
                        const int channels, const int multiplier, const int height, const int width,
                        const int out_height, const int out_width, const int kernel_height, const int kernel_width,
                        const int stride_y, const int stride_x, const int dilation_y, const int dilation_x,
                        const int blocks, const int count)
{
    const int i = get_global_id(0);
    if (i >= count) return;
    const int x = i % blocks * 16;
    const int y = i / blocks % out_height;
    const int plane = i / blocks / out_height;
    const int channel = plane % channels;
    image += (long)(plane / multiplier) * height * width + (long)y * stride_y * width + x * stride_x;
    weights += channel * kernel_height * kernel_width;
    float16 sum = (float16)(bias[channel]);
    for (int ky = 0; ky < kernel_height; ky++) {
        for (int kx = 0; kx < kernel_width; kx++) {
            __global const float* at = image + ky * dilation_y * width + kx * dilation_x;
#if STEP == 1
            const float16 line = vload16(0, at);
#elif STEP == 2
            const float16 line = (float16)(vload16(0, at).even, vload16(1, at).even);
#else
            const float16 line = (float16)(
                at[0], at[stride_x], at[2 * stride_x], at[3 * stride_x], at[4 * stride_x], at[5 * stride_x],
                at[6 * stride_x], at[7 * stride_x], at[8 * stride_x], at[9 * stride_x], at[10 * stride_x],
                at[11 * stride_x], at[12 * stride_x], at[13 * stride_x], at[14 * stride_x], at[15 * stride_x]);
#endif
            sum = sum + weights[ky * kernel_width + kx] * line;
        }
    }
    out += ((long)plane * out_height + y) * out_width + x;
    if (x + 16 <= out_width) {
        vstore16(sum, 0, out);
    } else {
        const float rest[16] = {sum.s0, sum.s1, sum.s2, sum.s3, sum.s4, sum.s5, sum.s6, sum.s7,
                                sum.s8, sum.s9, sum.sa, sum.sb, sum.sc, sum.sd, sum.se, sum.sf};
        for (int n = 0; x + n < out_width; n++) out[n] = rest[n];
    }
}
#endif

// The sum of overlapping patches, what a transposed convolution ends with: columns [planes][ky][kx][height][width] are
// added up in an image [planes][out_height][out_width]. One work-item computes one number of the image.
__kernel void overlapped(__global const float* restrict columns, __global float* restrict image,
                         const int height, const int width, const int out_height, const int out_width,
                         const int kernel_height, const int kernel_width, const int stride_y, const int stride_x,
                         const int dilation_y, const int dilation_x, const int pad_y, const int pad_x, const int count)
{
    const int i = get_global_id(0);
    if (i >= count) return;
    const int x = i % out_width + pad_x;
    const int y = i / out_width % out_height + pad_y;
    const int plane = i / out_width / out_height;
    float sum = 0.0f;
    for (int ky = 0; ky < kernel_height; ky++) {
        const int from_y = y - ky * dilation_y;
        if (from_y < 0 || from_y % stride_y || from_y / stride_y >= height) continue;
        for (int kx = 0; kx < kernel_width; kx++) {
            const int from_x = x - kx * dilation_x;
            if (from_x < 0 || from_x % stride_x || from_x / stride_x >= width) continue;
            const long patch = ((long)plane * kernel_height + ky) * kernel_width + kx;
            sum += columns[(patch * height + from_y / stride_y) * width + from_x / stride_x];
        }
    }
    image[i] = sum;
}
