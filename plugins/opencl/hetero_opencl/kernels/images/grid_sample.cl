// GridSample of data [batch][channels][spatial axes…] at the points [batch][points][axes] of a grid, to
// [batch][channels][points]. AXES is the number of spatial axes; the coordinates of a point start with the last axis.
// TAPS elements per axis are combined: 1 (nearest), 2 (linear) or 4 (cubic). PADDING: 0 zeros, 1 border, 2 reflection.
// DATA and GRID are element types, SUM is the C type of weights and sums (unused with one tap), FINISH(x) converts a
// sum to an element. A work-item computes the samples of one point in CHANNELS channels.

// Without contraction, coordinates next to a half or to an edge are rounded in the same way on every device.
#pragma OPENCL FP_CONTRACT OFF

// Convert to int, saturated far beyond any tensor; NaN lies outside of all data.
int index_of(const GRID_VALUE x)
{
    return isnan(x) ? -(1 << 30) : (int)fmin(fmax(x, (GRID_VALUE)-(1 << 30)), (GRID_VALUE)(1 << 30));
}

GRID_VALUE cubic(const GRID_VALUE distance)
{
    const GRID_VALUE a = -0.75f;
    if (distance <= 1)
        return ((a + 2) * distance - (a + 3)) * distance * distance + 1;
    return distance < 2 ? ((a * distance - 5 * a) * distance + 8 * a) * distance - 4 * a : 0;
}

// Index of the element that a position outside of the data refers to, or -1 if none.
int inside(const int index, const int length)
{
#if PADDING == 2
    const int period = ALIGN_CORNERS ? max(2 * (length - 1), 1) : 2 * length;
    const int position = (index % period + period) % period;
    return length > 1 ? min(position, period - position - !ALIGN_CORNERS) : 0;
#elif PADDING == 1
    return clamp(index, 0, length - 1);
#else
    return index >= 0 && index < length ? index : -1;
#endif
}

kernel void grid_sample(global const DATA *restrict data, global const GRID *restrict grid, global DATA *restrict out,
                        global const int *restrict lengths, const int channels, const int elements, const int points,
                        const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    const int blocks = (channels + CHANNELS - 1) / CHANNELS;
    const int point_index = item % points, block = item / points % blocks, batch = item / points / blocks;
    const int first = block * CHANNELS, here = min(CHANNELS, channels - first);
    grid += ((long)batch * points + point_index) * AXES;
    data += ((long)batch * channels + first) * elements;
    out += ((long)batch * channels + first) * points + point_index;

    int indices[AXES][TAPS];
#if TAPS > 1
    SUM weights[AXES][TAPS];
#endif
    for (int axis = 0; axis < AXES; axis++) {
        const int length = lengths[axis];
        const GRID_VALUE point = GRID_LOAD(grid, AXES - 1 - axis) + 1;
        const GRID_VALUE x = ALIGN_CORNERS ? point / 2 * (length - 1) : (point * length - 1) / 2;
#if TAPS == 1
        indices[axis][0] = inside(index_of(rint(x)), length);
#else
        const GRID_VALUE low = floor(x), part = x - low;
        for (int tap = 0; tap < TAPS; tap++) {
            const int offset = tap - (TAPS / 2 - 1);
#if TAPS == 2
            const GRID_VALUE weight = tap ? part : 1 - part;
#else
            const float weight = cubic(fabs(part - offset));
#endif
            const int index = inside(index_of(low) + offset, length);
            indices[axis][tap] = max(index, 0);
            weights[axis][tap] = index < 0 ? 0 : weight;
        }
#endif
    }

#if TAPS == 1
    long index = 0;
    bool is_inside = true;
    for (int axis = 0; axis < AXES; axis++) {
        is_inside = is_inside && indices[axis][0] >= 0;
        index = index * lengths[axis] + indices[axis][0];
    }
    for (int channel = 0; channel < here; channel++)
        out[(long)channel * points] = is_inside ? data[(long)channel * elements + index] : 0;
#else
    SUM sums[CHANNELS];
    for (int channel = 0; channel < CHANNELS; channel++)
        sums[channel] = 0;
    int taps[AXES];
    for (int axis = 0; axis < AXES; axis++)
        taps[axis] = 0;
    for (bool more = true; more;) {
        int index = indices[0][taps[0]];
        SUM weight = weights[0][taps[0]];
        for (int axis = 1; axis < AXES; axis++) {
            index = index * lengths[axis] + indices[axis][taps[axis]];
            weight *= weights[axis][taps[axis]];
        }
        for (int channel = 0; channel < here; channel++)
            sums[channel] += DATA_LOAD(data + (long)channel * elements, index) * weight;
        more = false;
        for (int axis = AXES - 1; axis >= 0 && !more; axis--) {
            more = ++taps[axis] < TAPS;
            if (!more)
                taps[axis] = 0;
        }
    }
    for (int channel = 0; channel < here; channel++)
        DATA_STORE(FINISH(sums[channel]), (long)channel * points, out);
#endif
}
