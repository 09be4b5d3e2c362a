// MaxPool with indices over planes with three spatial axes: the maximum of each window and the index of its first
// occurrence, modulo `indices`. The window is given per axis by kernel size, stride, dilation and leading padding. A
// window that meets no data has the index of the first element of its plane. START is the lowest number of the type.
// One work-item per output element.
kernel void indexed_pooling(global const DATA *restrict image, global DATA *restrict out,
                            global INDEX *restrict positions, const int depth, const int height, const int width,
                            const int out_depth, const int out_height, const int out_width,
                            const int kernel_z, const int kernel_y, const int kernel_x,
                            const int stride_z, const int stride_y, const int stride_x,
                            const int dilation_z, const int dilation_y, const int dilation_x,
                            const int pad_z, const int pad_y, const int pad_x, const int indices, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    const int left = item % out_width * stride_x - pad_x, row = item / out_width;
    const int top = row % out_height * stride_y - pad_y;
    const int front = row / out_height % out_depth * stride_z - pad_z;
    const int plane = row / out_height / out_depth * depth * height * width;
    int found = -1;
    DATA_VALUE largest = START;
    for (int kz = 0; kz < kernel_z; kz++) {
        const int z = front + kz * dilation_z;
        for (int ky = 0; ky < kernel_y; ky++) {
            const int y = top + ky * dilation_y;
            if (z < 0 || z >= depth || y < 0 || y >= height)
                continue;
            for (int kx = 0; kx < kernel_x; kx++) {
                const int x = left + kx * dilation_x;
                if (x < 0 || x >= width)
                    continue;
                const int position = plane + (z * height + y) * width + x;
                const DATA_VALUE value = DATA_LOAD(image, position);
                // NaN is larger than all.
                if (found < 0 || value > largest || (value != value && largest == largest)) {
                    found = position;
                    largest = value;
                }
            }
        }
    }
    DATA_STORE(largest, item, out);
    INDEX_STORE((found < 0 ? plane : found) % indices, item, positions);
}
