// Pooling of planes of three spatial axes (missing ones have length 1): one work-item computes one number of the output.
// The window is given for each axis by kernel size, stride, dilation and padding in front. LARGEST 1 takes the largest
// number, else the mean: over the numbers that the window meets, or over all its places where ALL_PLACES is 1.

__kernel void pooling(__global const float* restrict image, __global float* restrict out,
                      const int depth, const int height, const int width,
                      const int out_depth, const int out_height, const int out_width,
                      const int kernel_z, const int kernel_y, const int kernel_x,
                      const int stride_z, const int stride_y, const int stride_x,
                      const int dilation_z, const int dilation_y, const int dilation_x,
                      const int pad_z, const int pad_y, const int pad_x, const int count)
{
    const int i = get_global_id(0);
    if (i >= count) return;
    const int left = i % out_width * stride_x - pad_x;
    const int top = i / out_width % out_height * stride_y - pad_y;
    const int front = i / out_width / out_height % out_depth * stride_z - pad_z;
    image += (long)(i / out_width / out_height / out_depth) * depth * height * width;
#if LARGEST
    float result = -FLT_MAX;
#else
    float result = 0.0f;
#endif
    int met = 0;
    for (int kz = 0; kz < kernel_z; kz++) {
        const int z = front + kz * dilation_z;
        if (z < 0 || z >= depth) continue;
        for (int ky = 0; ky < kernel_y; ky++) {
            const int y = top + ky * dilation_y;
            if (y < 0 || y >= height) continue;
            __global const float* row = image + (z * height + y) * width;
            for (int kx = 0; kx < kernel_x; kx++) {
                const int x = left + kx * dilation_x;
                if (x < 0 || x >= width) continue;
                met++;
#if LARGEST
                result = fmax(result, row[x]);
#else
                result += row[x];
#endif
            }
        }
    }
#if LARGEST
    out[i] = result;
#elif ALL_PLACES
    out[i] = result / (kernel_z * kernel_y * kernel_x);
#else
    out[i] = result / max(met, 1);
#endif
}
