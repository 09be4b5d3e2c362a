// BinaryConvolution of images [batch][channels][height][width] with filters
// [outputs][channels][kernel_height][kernel_width] of 0 and 1: the number of equal elements minus that of different
// ones. Positions outside of the image hold `outside`. An element that is neither 0 nor 1 counts as different. WHOLE 1:
// DATA is an integer type. One work-item per output element.
kernel void binary_convolution(global const DATA *restrict image, global const FILTER *restrict filters,
                               global DATA *restrict out, const float outside, const int channels, const int height,
                               const int width, const int outputs, const int out_height, const int out_width,
                               const int kernel_height, const int kernel_width, const int stride_y, const int stride_x,
                               const int dilation_y, const int dilation_x, const int pad_y, const int pad_x,
                               const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    const int left = item % out_width * stride_x - pad_x, top = item / out_width % out_height * stride_y - pad_y;
    const int plane = item / out_width / out_height;
    image += (long)(plane / outputs) * channels * height * width;
    filters += (long)(plane % outputs) * channels * kernel_height * kernel_width;
    float sum = 0;
    for (int channel = 0; channel < channels; channel++) {
        for (int ky = 0; ky < kernel_height; ky++) {
            const int y = top + ky * dilation_y;
            for (int kx = 0; kx < kernel_width; kx++) {
                const int x = left + kx * dilation_x;
                const bool is_inside = y >= 0 && y < height && x >= 0 && x < width;
                const float value = is_inside ? (float)DATA_LOAD(image, (channel * height + y) * width + x) : outside;
                const int place = (channel * kernel_height + ky) * kernel_width + kx;
                const float sign = 2 * (float)FILTER_LOAD(filters, place) - 1;
                sum += value == 1 ? sign : value == 0 ? -sign : -1;
            }
        }
    }
#if WHOLE
    DATA_STORE((long)sum, item, out);
#else
    DATA_STORE(sum, item, out);
#endif
}
