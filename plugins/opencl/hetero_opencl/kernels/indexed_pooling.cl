// The largest number that each window meets in planes of three spatial axes, and its index: the first of equal ones. A
// work-item makes one number. Elements are of type DATA, and START is the lowest; indices are of type INDEX, counted
// modulo `indices`.

// The window is given for each axis by kernel size, stride, dilation and padding in front; one that meets nothing has
// the index of the first element of its plane.
kernel void indexed_pooling(global const DATA *restrict image, global DATA *restrict out,
                            global INDEX *restrict places, const int depth, const int height, const int width,
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
                const int place = plane + (z * height + y) * width + x;
                const DATA_VALUE value = DATA_LOAD(image, place);
                if (found < 0 || value > largest) {
                    found = place;
                    largest = value;
                }
            }
        }
    }
    DATA_STORE(largest, item, out);
    INDEX_STORE((found < 0 ? plane : found) % indices, item, places);
}
