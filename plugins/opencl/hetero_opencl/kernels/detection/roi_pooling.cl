// ROI pooling from images [images][channels][height][width] to [regions][outputs][rows][columns]. A region is an image
// index and two corners; it is 0 if the image does not exist. The bilinear functions come from bilinear.cl. One
// work-item per output element.

DATA_VALUE rounded(const DATA_VALUE x)
{
    return copysign(floor(fabs(x) + (DATA_VALUE)0.5f), x);
}

// Clamp a number to 0 … limit and truncate it.
int within(const DATA_VALUE x, const int limit)
{
    return (int)fmin(fmax(x, (DATA_VALUE)0), (DATA_VALUE)limit);
}

// Position of sample `number` of `count` samples, evenly spaced from `first` to `last` in relative coordinates of an
// axis; the middle if there is one sample.
DATA_VALUE sample_position(const DATA_VALUE first, const DATA_VALUE last, const int number, const int count,
                           const int length)
{
    if (count == 1)
        return (first + last) * (length - 1) / 2;
    if (number == count - 1)
        return last * (length - 1);
    return number * ((last - first) * (length - 1) / (count - 1)) + first * (length - 1);
}

DATA_VALUE sample_inside(global const DATA *plane, const DATA_VALUE y, const DATA_VALUE x, const int height,
                         const int width)
{
    if (!(y >= 0 && y <= height - 1 && x >= 0 && x <= width - 1))
        return 0;
    return bilinear(plane, corners_of(y, x, height, width));
}

#define PARAMETERS                                                                                                   \
    global const DATA *restrict data, global const DATA *restrict regions, global DATA *restrict out,                \
        const int images, const int channels, const int height, const int width, const int outputs, const int rows, \
        const int columns, const float scale
#define FIND_ELEMENT                                                                                              \
    const int item = get_global_id(0);                                                                          \
    if (item >= count)                                                                                          \
        return;                                                                                                 \
    const int column = item % columns, row = item / columns % rows, output = item / columns / rows % outputs;    \
    const int number = item / columns / rows / outputs;                                                         \
    regions += (long)number * 5;                                                                                \
    const DATA_VALUE image_index = trunc(DATA_LOAD(regions, 0));                                                \
    const bool exists = image_index >= 0 && image_index < images && height && width;                          \
    data += (exists ? (long)image_index : 0) * channels * height * width;                                     \
    const DATA_VALUE left = DATA_LOAD(regions, 1), top = DATA_LOAD(regions, 2);                                 \
    const DATA_VALUE right = DATA_LOAD(regions, 3), bottom = DATA_LOAD(regions, 4);                             \
    DATA_VALUE result = 0;

// Maximum of the elements of each bin.
kernel void largest_of_parts(PARAMETERS, const int count)
{
    FIND_ELEMENT
    if (exists) {
        const DATA_VALUE begin_x = rounded(left * scale), begin_y = rounded(top * scale);
        const DATA_VALUE across = fmax(rounded(right * scale) - begin_x + 1, (DATA_VALUE)1);
        const DATA_VALUE down = fmax(rounded(bottom * scale) - begin_y + 1, (DATA_VALUE)1);
        const float tall = (float)down / rows, wide = (float)across / columns;
        const int first = within(floor(row * tall) + begin_y, height);
        const int last = within(ceil((row + 1) * tall) + begin_y, height);
        const int begin = within(floor(column * wide) + begin_x, width);
        const int end = within(ceil((column + 1) * wide) + begin_x, width);
        data += (long)output * height * width;
        if (first < last && begin < end) {
            result = DATA_LOAD(data, first * width + begin);
            for (int y = first; y < last; y++)
                for (int x = begin; x < end; x++)
                    result = larger(result, DATA_LOAD(data, y * width + x));
        }
    }
    DATA_STORE(result, item, out);
}

// One bilinear sample per bin, evenly spaced from edge to edge of a region in relative coordinates.
kernel void spread_samples(PARAMETERS, const int count)
{
    FIND_ELEMENT
    if (exists) {
        const DATA_VALUE y = sample_position(top, bottom, row, rows, height);
        const DATA_VALUE x = sample_position(left, right, column, columns, width);
        result = sample_inside(data + (long)output * height * width, y, x, height, width);
    }
    DATA_STORE(result, item, out);
}

// Position-sensitive: mean of the elements of each bin, each bin from its own channel.
kernel void means_of_parts(PARAMETERS, const int count)
{
    FIND_ELEMENT
    if (exists) {
        const DATA_VALUE begin_x = rounded(left) * scale, begin_y = rounded(top) * scale;
        const DATA_VALUE wide = ((rounded(right) + 1) * scale - begin_x) / columns;
        const DATA_VALUE tall = ((rounded(bottom) + 1) * scale - begin_y) / rows;
        const int first = within(floor(begin_y + row * tall), height);
        const int last = within(ceil(begin_y + (row + 1) * tall), height);
        const int begin = within(floor(begin_x + column * wide), width);
        const int end = within(ceil(begin_x + (column + 1) * wide), width);
        data += ((long)(output * rows + row) * columns + column) * height * width;
        if (first < last && begin < end) {
            for (int y = first; y < last; y++)
                for (int x = begin; x < end; x++)
                    result += DATA_LOAD(data, y * width + x);
            result /= (DATA_VALUE)(last - first) * (end - begin);
        }
    }
    DATA_STORE(result, item, out);
}

// Position-sensitive bilinear: mean over the bins of a region of one sample each, every bin from its own channels.
kernel void means_of_spread_samples(PARAMETERS, const int bins_down, const int bins_along, const int count)
{
    FIND_ELEMENT
    if (exists) {
        const DATA_VALUE from_y = top * scale, from_x = left * scale;
        const DATA_VALUE tall = (bottom * scale - from_y) / bins_down, wide = (right * scale - from_x) / bins_along;
        for (int i = 0; i < bins_down; i++)
            for (int j = 0; j < bins_along; j++) {
                const DATA_VALUE y = sample_position(from_y + i * tall, from_y + (i + 1) * tall, row, rows, height);
                const DATA_VALUE x =
                    sample_position(from_x + j * wide, from_x + (j + 1) * wide, column, columns, width);
                const long plane = (long)(i * bins_along + j) * outputs + output;
                result += sample_inside(data + plane * height * width, y, x, height, width);
            }
        result /= bins_down * bins_along;
    }
    DATA_STORE(result, item, out);
}

// Deformable position-sensitive: mean of bilinear samples of bins that are shifted by offsets
// [regions][classes][2][part][part], in units of the region's size; not shifted if `classes` is 0.
kernel void means_of_moved_samples(PARAMETERS, const int bins_down, const int bins_along,
                                   global const DATA *restrict offsets, const int classes, const int part,
                                   const float spread_of_offsets, const int count)
{
    FIND_ELEMENT
    if (exists) {
        const DATA_VALUE from_x = rounded(left) * scale - 0.5f, from_y = rounded(top) * scale - 0.5f;
        const DATA_VALUE across = fmax((rounded(right) + 1) * scale - 0.5f - from_x, (DATA_VALUE)0.1f);
        const DATA_VALUE down = fmax((rounded(bottom) + 1) * scale - 0.5f - from_y, (DATA_VALUE)0.1f);
        DATA_VALUE along = 0, below = 0;
        if (classes) {
            const int kind = output / (outputs / classes);
            const long place = ((long)number * classes + kind) * 2 * part * part;
            const int cell = row * part / rows * part + column * part / columns;
            along = DATA_LOAD(offsets, place + cell) * spread_of_offsets;
            below = DATA_LOAD(offsets, place + part * part + cell) * spread_of_offsets;
        }
        const DATA_VALUE wide = across / columns, tall = down / rows;
        const DATA_VALUE start_x = from_x + column * wide + along * across;
        const DATA_VALUE start_y = from_y + row * tall + below * down;
        data += ((long)(output * rows + row) * columns + column) * height * width;
        int found = 0;
        for (int i = 0; i < bins_down; i++)
            for (int j = 0; j < bins_along; j++) {
                const DATA_VALUE y = start_y + i * (tall / bins_down), x = start_x + j * (wide / bins_along);
                if (x >= -0.5f && x <= width - 0.5f && y >= -0.5f && y <= height - 0.5f) {
                    result += bilinear(data, corners_of(y, x, height, width));
                    found++;
                }
            }
        result /= max(found, 1);
    }
    DATA_STORE(result, item, out);
}
