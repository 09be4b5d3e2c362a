// ROIAlign: regions of images [images][channels][height][width] are divided into bins
// [regions][channels][rows][columns]. A bin is the mean (MODE 0), the maximum (1) or the largest weighted element (2)
// of its bilinear samples. REGION: 0 corners, 1 center, size and angle, 2 corners in one level of a feature pyramid.
// Samples more than 1 outside of the image are 0, and so are regions of images that do not exist. The bilinear
// functions come from bilinear.cl. One work-item per bin.

typedef struct {
    DATA_VALUE left, top, width, height, cosine, sine;
} Region;

// Number of samples of a bin along one axis.
int sample_count(const DATA_VALUE size, const int ratio)
{
    return ratio ? ratio : isfinite(size) ? max(convert_int_sat_rtp(size), 0) : 0;
}

DATA_VALUE sample_position(const int bin, const DATA_VALUE size, const int sample, const int samples)
{
    return bin * size + (sample + (DATA_VALUE)0.5f) * (size / samples);
}

// Range of the samples of a bin that may be within 1 of the image. Regions far larger than the image have very many
// others.
int2 samples_inside(const DATA_VALUE start, const DATA_VALUE size, const int samples, const int length)
{
    const DATA_VALUE step = size / samples;
    if (!(step > 0))
        return (int2)(0, samples);
    const int first = convert_int_sat((-1 - start) / step - 1), last = convert_int_sat((length - start) / step + 1);
    return (int2)(clamp(first, 0, samples), clamp(last, 0, samples - 1) + 1);
}

DATA_VALUE pool(global const DATA *plane, const Region region, const int height, const int width, const int row,
                const int column, const int rows, const int columns, const int ratio)
{
    const DATA_VALUE tall = region.height / rows, wide = region.width / columns;
    const int down = sample_count(tall, ratio), along = sample_count(wide, ratio);
    DATA_VALUE found = MODE == 2 ? -INFINITY : 0;
    if (!down || !along || !height || !width)
        return 0;
#if REGION == 1
    const int2 rows_met = (int2)(0, down), columns_met = (int2)(0, along);
#else
    const int2 rows_met = samples_inside(region.top + row * tall, tall, down, height);
    const int2 columns_met = samples_inside(region.left + column * wide, wide, along, width);
    // The samples outside are 0.
    if (MODE && (rows_met.y - rows_met.x < down || columns_met.y - columns_met.x < along))
        found = 0;
#endif
    for (int i = rows_met.x; i < rows_met.y; i++) {
        const DATA_VALUE below = sample_position(row, tall, i, down);
        for (int j = columns_met.x; j < columns_met.y; j++) {
            const DATA_VALUE beside = sample_position(column, wide, j, along);
#if REGION == 1
            const DATA_VALUE v = below - region.height / 2, u = beside - region.width / 2;
            const DATA_VALUE y = v * region.cosine - u * region.sine + region.top - 0.5f;
            const DATA_VALUE x = v * region.sine + u * region.cosine + region.left - 0.5f;
#else
            const DATA_VALUE y = region.top + below, x = region.left + beside;
#endif
            DATA_VALUE sample = 0;
            if (y >= -1 && y <= height && x >= -1 && x <= width) {
                const Corners corners = corners_of(y, x, height, width);
                sample = MODE == 2 ? largest_term(plane, corners) : bilinear(plane, corners);
            }
            found = MODE ? larger(found, sample) : found + sample;
        }
    }
    return MODE ? found : found / ((DATA_VALUE)down * along);
}

#if REGION < 2
kernel void roi_align(global const DATA *restrict data, global const DATA *restrict regions,
                      global const INDEX *restrict images, global DATA *restrict out, const int image_count,
                      const int channels, const int height, const int width, const int rows, const int columns,
                      const int ratio, const DATA_VALUE scale, const DATA_VALUE before, const DATA_VALUE after,
                      const DATA_VALUE smallest, const int clockwise, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    const int column = item % columns, row = item / columns % rows, channel = item / columns / rows % channels;
    const int number = item / columns / rows / channels;
    const long image = images[number];
    DATA_VALUE result = 0;
    if (image >= 0 && image < image_count) {
#if REGION == 1
        regions += (long)number * 5;
        const DATA_VALUE angle = clockwise ? -DATA_LOAD(regions, 4) : DATA_LOAD(regions, 4);
        const Region region = {DATA_LOAD(regions, 0) * scale, DATA_LOAD(regions, 1) * scale,
                               DATA_LOAD(regions, 2) * scale, DATA_LOAD(regions, 3) * scale, cos(angle), sin(angle)};
#else
        // Offsets before and after scaling, then a minimum side length.
        regions += (long)number * 4;
        const DATA_VALUE left = (DATA_LOAD(regions, 0) + before) * scale - after;
        const DATA_VALUE top = (DATA_LOAD(regions, 1) + before) * scale - after;
        const DATA_VALUE right = (DATA_LOAD(regions, 2) + before) * scale - after;
        const DATA_VALUE bottom = (DATA_LOAD(regions, 3) + before) * scale - after;
        const Region region = {left, top, fmax(right - left, smallest), fmax(bottom - top, smallest), 1, 0};
#endif
        global const DATA *plane = data + (image * channels + channel) * height * width;
        result = pool(plane, region, height, width, row, column, rows, columns, ratio);
    }
    DATA_STORE(result, item, out);
}
#else
// The bins of the regions that belong to one level of the pyramid; larger regions belong to later levels. The first
// level also writes the bins of regions without an area, which are 0.
kernel void pool_from_level(global const DATA *restrict data, global const DATA *restrict regions,
                            global DATA *restrict out, const int map, const int maps, const int channels,
                            const int height, const int width, const int size, const int ratio, const DATA_VALUE scale,
                            const DATA_VALUE after, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    const int column = item % size, row = item / size % size, channel = item / size / size % channels;
    regions += (long)(item / size / size / channels) * 4;
    const DATA_VALUE left = DATA_LOAD(regions, 0), top = DATA_LOAD(regions, 1);
    const DATA_VALUE across = DATA_LOAD(regions, 2) - left, down = DATA_LOAD(regions, 3) - top;
    const DATA_VALUE area = across * down;
    const DATA_VALUE level = floor(log2(sqrt(fmax(area, (DATA_VALUE)0)) / 224 + 1e-6f) + 2);
    if (map != (area > 0 ? (int)fmin(fmax(level, (DATA_VALUE)0), (DATA_VALUE)(maps - 1)) : 0))
        return;
    DATA_VALUE result = 0;
    if (area > 0) {
        const Region region = {left * scale - after, top * scale - after, fmax(across * scale, (DATA_VALUE)1),
                               fmax(down * scale, (DATA_VALUE)1), 1, 0};
        global const DATA *plane = data + (long)channel * height * width;
        result = pool(plane, region, height, width, row, column, size, size, ratio);
    }
    DATA_STORE(result, item, out);
}
#endif
