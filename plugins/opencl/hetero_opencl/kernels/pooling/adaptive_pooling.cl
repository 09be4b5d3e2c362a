// Adaptive pooling of planes with three spatial axes (missing axes have length 1). Each axis is divided into the given
// number of parts, which may overlap by one. IS_MAX 1: the maximum and its index in the plane; the first NaN wins.
// Else the mean. SUM is the C type of sums, unsigned for integers, since these wrap around; WHOLE is the C type as
// which an integer sum is read, and its mean is rounded towards zero. One work-item per output element.
kernel void adaptive_pooling(global const DATA *restrict image, global DATA *restrict out,
#if IS_MAX
                             global INDEX *restrict indices,
#endif
                             const int depth, const int height, const int width, const int out_depth,
                             const int out_height, const int out_width, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    const long x = item % out_width, y = item / out_width % out_height, z = item / out_width / out_height % out_depth;
    const int first_z = z * depth / out_depth, last_z = ((z + 1) * depth + out_depth - 1) / out_depth;
    const int first_y = y * height / out_height, last_y = ((y + 1) * height + out_height - 1) / out_height;
    const int first_x = x * width / out_width, last_x = ((x + 1) * width + out_width - 1) / out_width;
    image += (long)(item / out_width / out_height / out_depth) * depth * height * width;
#if IS_MAX
    int found = (first_z * height + first_y) * width + first_x;
    DATA_VALUE largest = 0;
    bool is_first = true;
#else
    SUM sum = 0;
#endif
    for (int at_z = first_z; at_z < last_z; at_z++) {
        for (int at_y = first_y; at_y < last_y; at_y++) {
            for (int at_x = first_x; at_x < last_x; at_x++) {
                const int position = (at_z * height + at_y) * width + at_x;
                const DATA_VALUE value = DATA_LOAD(image, position);
#if IS_MAX
                if (is_first || value > largest || (value != value && largest == largest)) {
                    found = position;
                    largest = value;
                    is_first = false;
                }
#else
                sum += value;
#endif
            }
        }
    }
#if IS_MAX
    DATA_STORE(largest, item, out);
    INDEX_STORE(found, item, indices);
#else
    const long count_of_part = (last_z - first_z) * (last_y - first_y) * (last_x - first_x);
#ifdef WHOLE
    DATA_STORE(count_of_part ? (WHOLE)sum / count_of_part : 0, item, out);
#else
    DATA_STORE(sum / count_of_part, item, out);
#endif
#endif
}
