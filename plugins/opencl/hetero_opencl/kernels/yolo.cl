// RegionYolo of data [images][boxes * (coords + 1 + classes) and more][cells]: x, y and the confidence of each box
// through the logistic function, and its classes through that or a softmax. With it channels beyond the boxes stay as
// they are. A work-item makes a box of a cell, or an element of a channel beyond.

DATA_VALUE logistic(const DATA_VALUE x)
{
    return 1 / (1 + exp(-x));
}

kernel void region_yolo(global const DATA *restrict data, global DATA *restrict out, const int channels,
                        const int cells, const int boxes, const int coords, const int classes, const int softmax,
                        const int more, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    const int size = coords + 1 + classes, cell = item % cells, box = item / cells % (boxes + more);
    const long image = item / cells / (boxes + more);
    const int channel = box < boxes ? box * size : boxes * size + box - boxes;
    data += (image * channels + channel) * cells + cell;
    out += (image * (boxes * size + more) + channel) * cells + cell;
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
