// Normalize rows on GPUs; for SUBTRACT_MEAN, SCALE, AFFINE and the axes see normalization.cl, for LANES, ROWS, ACROSS
// and slices shared_softmax.cl. ONE_AXIS: only axis 0 is reduced.
// One launch of normalize_rows, or two or three: sum_slices, if the mean is subtracted, and square_slices compute sums
// over parts of rows, then normalize_slices writes the parts. Sums are computed in blocks, so that long ones accumulate
// little rounding error.
typedef DATA_VALUE VALUE;
#define AXES                                                                                                    \
    const int kept0, const int kept_stride0, const int kept1, const int kept_stride1, const int kept2,          \
        const int kept_stride2, const int kept3, const int kept_stride3, const int reduced0, const int stride0, \
        const int reduced1, const int stride1, const int reduced2, const int stride2, const int reduced3,       \
        const int stride3, const int length, const int slices, const int slice, const int count
#if ONE_AXIS
#define POSITION(n) ((n) * stride0)
#else
#define POSITION(n)                                                                                                   \
    ((n) % reduced0 * stride0 + (n) / reduced0 % reduced1 * stride1 + (n) / reduced0 / reduced1 % reduced2 * stride2  \
     + (n) / reduced0 / reduced1 / reduced2 * stride3)
#endif
#define BEGIN                                                                                           \
    local VALUE parts[LANES * ROWS];                                                                    \
    const int item = get_local_id(0), group = get_group_id(0);                                          \
    const int lane = ACROSS ? item / ROWS : item % LANES, place = ACROSS ? item % ROWS : item / LANES;  \
    const int at = group / slices * ROWS + place, part = group % slices;                                \
    /* All work-items reach the barriers; those behind the last row compute it too. */                  \
    const int row = min(at, count - 1), outer = row / kept0;                                            \
    const int first = part * slice, last = min(first + slice, length);                                  \
    data += row % kept0 * kept_stride0 + outer % kept1 * kept_stride1                                   \
            + outer / kept1 % kept2 * kept_stride2 + outer / kept1 / kept2 * kept_stride3;              \
    VALUE mean = 0;

// Set `sum` to the sum of TERM(x) over the elements x of this part, less the mean.
#define ADD_ELEMENTS(sum, TERM)                                                                       \
    VALUE sum = 0;                                                                                    \
    for (int start = first + lane; start < last; start += 64 * LANES) {                               \
        const int end = min(start + 64 * LANES, last);                                                \
        VALUE block = 0;                                                                              \
        for (int n = start; n < end; n += 4 * LANES) {                                                \
            /* Those behind the end do not count; all four are read at once. */                       \
            const int in_b = min(n + LANES, end - 1), in_c = min(n + 2 * LANES, end - 1);             \
            const int in_d = min(n + 3 * LANES, end - 1);                                             \
            const VALUE a = DATA_LOAD(data, POSITION(n)) - mean;                                      \
            const VALUE b = DATA_LOAD(data, POSITION(in_b)) - mean;                                   \
            const VALUE c = DATA_LOAD(data, POSITION(in_c)) - mean;                                   \
            const VALUE d = DATA_LOAD(data, POSITION(in_d)) - mean;                                   \
            const VALUE of_b = n + LANES < end ? TERM(b) : 0, of_c = n + 2 * LANES < end ? TERM(c) : 0; \
            const VALUE of_d = n + 3 * LANES < end ? TERM(d) : 0;                                     \
            block += (TERM(a) + of_b) + (of_c + of_d);                                                \
        }                                                                                             \
        sum += block;                                                                                 \
    }                                                                                                 \
    sum = sum_of_lanes(sum, parts, item, lane);
#define ITSELF(x) (x)
#define SQUARED(x) ((x) * (x))
// Set `sum` to the sum over all parts of the row.
#define ADD_SLICES(sum, found)                          \
    VALUE sum = 0;                                      \
    for (int i = lane; i < slices; i += LANES)          \
        sum += found[row * slices + i];                 \
    sum = sum_of_lanes(sum, parts, item, lane);

static inline __attribute__((always_inline)) VALUE
sum_of_lanes(const VALUE own, local VALUE *parts, const int item, const int lane)
{
    const int step = ACROSS ? ROWS : 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    parts[item] = own;
    for (int half_lanes = LANES / 2; half_lanes; half_lanes /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < half_lanes)
            parts[item] += parts[item + half_lanes * step];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    return parts[item - lane * step];
}

#ifdef SCALE
#define FACTOR SCALE
#else
#define FACTOR 1
#endif
#if AFFINE
#define WEIGHTED(x, n) ((x) * DATA_LOAD(gamma, channel + (n) / spatial) + DATA_LOAD(beta, channel + (n) / spatial))
#else
#define WEIGHTED(x, n) (x)
#endif
#define WRITE_ELEMENTS                                                                             \
    const VALUE scale = FACTOR;                                                                    \
    const int spatial = length / channels, channel = row % groups * channels;                      \
    out += row % kept0 * kept_stride0 + outer % kept1 * kept_stride1                               \
           + outer / kept1 % kept2 * kept_stride2 + outer / kept1 / kept2 * kept_stride3;          \
    if (at < count) {                                                                              \
        _Pragma("unroll 4")                                                                        \
        for (int n = first + lane; n < last; n += LANES) {                                         \
            const VALUE result = (DATA_LOAD(data, POSITION(n)) - mean) * scale;                    \
            DATA_STORE(WEIGHTED(result, n), POSITION(n), out);                                     \
        }                                                                                          \
    }

#if !SLICED
kernel void normalize_shared(global const DATA *restrict data, global DATA *restrict out,
                             global const DATA *restrict gamma, global const DATA *restrict beta, AXES,
                             const int groups, const int channels, const VALUE epsilon)
{
    BEGIN
#if SUBTRACT_MEAN
    ADD_ELEMENTS(sum, ITSELF)
    mean = sum / length;
#endif
#ifdef SCALE
    ADD_ELEMENTS(squares, SQUARED)
#endif
    WRITE_ELEMENTS
}
#else

kernel void sum_slices(global const DATA *restrict data, global VALUE *restrict sums, AXES)
{
    BEGIN
    ADD_ELEMENTS(sum, ITSELF)
    if (lane == 0 && at < count)
        sums[at * slices + part] = sum;
}

kernel void square_slices(global const DATA *restrict data, global const VALUE *restrict sums,
                          global VALUE *restrict square_sums, AXES)
{
    BEGIN
#if SUBTRACT_MEAN
    ADD_SLICES(sum, sums)
    mean = sum / length;
#endif
    ADD_ELEMENTS(squares, SQUARED)
    if (lane == 0 && at < count)
        square_sums[at * slices + part] = squares;
}

kernel void normalize_slices(global const DATA *restrict data, global const VALUE *restrict sums,
                             global const VALUE *restrict square_sums, global DATA *restrict out,
                             global const DATA *restrict gamma, global const DATA *restrict beta, AXES,
                             const int groups, const int channels, const VALUE epsilon)
{
    BEGIN
#if SUBTRACT_MEAN
    ADD_SLICES(sum, sums)
    mean = sum / length;
#endif
#ifdef SCALE
    ADD_SLICES(squares, square_sums)
#endif
    WRITE_ELEMENTS
}
#endif
