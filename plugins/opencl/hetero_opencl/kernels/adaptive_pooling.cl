// Planes of three spatial axes (missing ones have length 1) cut on each axis into so many parts, which may overlap by
// one. A work-item makes one number of a part: its largest one, of which there is also the index in the plane, or its
// mean. DATA, INDEX: element types; LARGEST 1: the largest number, the first one that is not a number before any other;
// SUM: the type of sums, that of whole numbers without a sign, since it wraps around then. WHOLE: what such a sum is to
// be read as; the mean is rounded to zero.
kernel void adaptive_pooling(global const DATA *restrict image, global DATA *restrict out,
#if LARGEST
                             global INDEX *restrict places,
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
#if LARGEST
    int found = (first_z * height + first_y) * width + first_x;
    DATA_VALUE largest = 0;
    bool is_first = true;
#else
    SUM sum = 0;
#endif
    for (int at_z = first_z; at_z < last_z; at_z++) {
        for (int at_y = first_y; at_y < last_y; at_y++) {
            for (int at_x = first_x; at_x < last_x; at_x++) {
                const int place = (at_z * height + at_y) * width + at_x;
                const DATA_VALUE value = DATA_LOAD(image, place);
#if LARGEST
                if (is_first || value > largest || (value != value && largest == largest)) {
                    found = place;
                    largest = value;
                    is_first = false;
                }
#else
                sum += value;
#endif
            }
        }
    }
#if LARGEST
    DATA_STORE(largest, item, out);
    INDEX_STORE(found, item, places);
#else
    const long met = (last_z - first_z) * (last_y - first_y) * (last_x - first_x);
#ifdef WHOLE
    DATA_STORE(met ? (WHOLE)sum / met : 0, item, out);
#else
    DATA_STORE(sum / met, item, out);
#endif
#endif
}
