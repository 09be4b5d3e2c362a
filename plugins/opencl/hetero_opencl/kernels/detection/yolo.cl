// RegionYolo of data [images][boxes * (coords + 1 + classes) + extra_channels][cells]: a sigmoid of x, y and the
// confidence of each box, and a sigmoid or a softmax of its classes. With softmax, channels after those of the boxes
// are copied. A work-item computes one box of one cell, or one element of a further channel.

DATA_VALUE logistic(const DATA_VALUE x)
{
    return 1 / (1 + exp(-x));
}

kernel void region_yolo(global const DATA *restrict data, global DATA *restrict out, const int channels,
                        const int cells, const int boxes, const int coords, const int classes, const int softmax,
                        const int extra_channels, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    const int size = coords + 1 + classes, cell = item % cells, box = item / cells % (boxes + extra_channels);
    const long image = item / cells / (boxes + extra_channels);
    const int channel = box < boxes ? box * size : boxes * size + box - boxes;
    data += (image * channels + channel) * cells + cell;
    out += (image * (boxes * size + extra_channels) + channel) * cells + cell;
    if (box >= boxes) {
        DATA_STORE(DATA_LOAD(data, 0), 0, out);
        return;
    }
    const int scores = softmax ? coords + 1 : size;
    for (int part = 0; part < scores; part++) {
        DATA_VALUE x = DATA_LOAD(data, (long)part * cells);
        x = part < 2 ? logistic(x) : x;
        DATA_STORE(part >= coords ? logistic(x) : x, (long)part * cells, out);
    }
    DATA_VALUE largest = -INFINITY, sum = 0;
    for (int part = scores; part < size; part++)
        largest = fmax(largest, DATA_LOAD(data, (long)part * cells));
    for (int part = scores; part < size; part++)
        sum += exp(DATA_LOAD(data, (long)part * cells) - largest);
    for (int part = scores; part < size; part++)
        DATA_STORE(exp(DATA_LOAD(data, (long)part * cells) - largest) / sum, (long)part * cells, out);
}
