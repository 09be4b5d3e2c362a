// Normalize rows: subtract the mean (with SUBTRACT_MEAN), multiply by SCALE, an expression of `squares` (the sum of
// squares), `length` and `epsilon`. With AFFINE then multiply by gamma and add beta of the channel; a channel is
// `spatial` consecutive elements. Rows lie along merged axes, innermost first. One work-item per row, with IN_VECTORS
// if rows are contiguous; or with WIDTH 16 per 16 rows whose elements are neighbors, without AFFINE. Sums are
// computed in blocks, so that long ones accumulate little rounding error.
typedef DATA_VALUE VALUE;
typedef DATA_VALUE16 VALUES;
#if WIDTH == 1
typedef VALUE ROW;
#define LOAD(pointer) DATA_LOAD(pointer, 0)
#define STORE(value, pointer) DATA_STORE(value, 0, pointer)
#else
typedef VALUES ROW;
#define LOAD(pointer) DATA_LOAD16(pointer)
#define STORE(value, pointer) DATA_STORE16(value, pointer)
#endif
#define HALVES_SUM(x) ((x).lo + (x).hi)
#define AXES reduced0, stride0, reduced1, stride1, reduced2, stride2, reduced3, stride3
#define AXES_DECLARED                                                                                                  \
    const int reduced0, const int stride0, const int reduced1, const int stride1, const int reduced2,                  \
        const int stride2, const int reduced3, const int stride3

// Position of element n of a row.
static inline int position_of(const int n, const int length, AXES_DECLARED)
{
    if (reduced0 == length)
        return n * stride0;
    const int row = n / reduced0;
    return n % reduced0 * stride0 + row % reduced1 * stride1 + row / reduced1 % reduced2 * stride2
           + row / reduced1 / reduced2 * stride3;
}

// The sum over a row of (element - mean), or of its square.
static inline ROW sum_of(global const DATA *data, const ROW mean, const int squared, const int length, AXES_DECLARED)
{
    ROW sum = 0;
#if IN_VECTORS
    const int whole = length & ~15;
    VALUES sums = 0;
    for (uint start = 0; start < whole; start += 4096) {
        // Four sums, as an addition takes as long as four of them do.
        VALUES parts[4] = {0, 0, 0, 0};
        const uint end = min(start + 4096, (uint)whole);
        uint n = start;
        for (; n + 64 <= end; n += 64) {
            #pragma unroll
            for (int i = 0; i < 4; i++) {
                const VALUES x = DATA_LOAD16(data + n + 16 * i) - mean;
                parts[i] += squared ? x * x : x;
            }
        }
        for (; n < end; n += 16) {
            const VALUES x = DATA_LOAD16(data + n) - mean;
            parts[0] += squared ? x * x : x;
        }
        sums += (parts[0] + parts[1]) + (parts[2] + parts[3]);
    }
    sum = HALVES_SUM(HALVES_SUM(HALVES_SUM(HALVES_SUM(sums))));
#else
    const int whole = 0;
#endif
    for (uint start = whole; start < length; start += 128) {
        ROW part = 0;
        const uint end = min(start + 128, (uint)length);
        for (uint n = start; n < end; n++) {
            const ROW x = LOAD(data + position_of(n, length, AXES)) - mean;
            part += squared ? x * x : x;
        }
        sum += part;
    }
    return sum;
}

kernel void normalize_rows(global const DATA *restrict data, global DATA *restrict out,
                           global const DATA *restrict gamma, global const DATA *restrict beta, const int kept0,
                           const int kept_stride0, const int kept1, const int kept_stride1, const int kept2,
                           const int kept_stride2, const int kept3, const int kept_stride3, AXES_DECLARED,
                           const int length, const int groups, const int channels, const VALUE least,
                           const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    // The last 16 rows overlap those before, and are written twice.
    const int blocks = (kept0 + WIDTH - 1) / WIDTH;
    const int row = item / blocks * kept0 + min(item % blocks * WIDTH, kept0 - WIDTH);
    const ROW epsilon = least;
    const int outer = row / kept0;
    const int first = row % kept0 * kept_stride0 + outer % kept1 * kept_stride1
                      + outer / kept1 % kept2 * kept_stride2 + outer / kept1 / kept2 * kept_stride3;
    data += first;
    out += first;
    ROW mean = 0;
#if SUBTRACT_MEAN
    mean = sum_of(data, 0, 0, length, AXES) / length;
#endif
#ifdef SCALE
    const ROW squares = sum_of(data, mean, 1, length, AXES);
    const ROW scale = SCALE;
#else
    const ROW scale = 1;
#endif
    const int spatial = length / channels;
#if AFFINE
    gamma += row % groups * channels;
    beta += row % groups * channels;
#endif
#if IN_VECTORS
    for (int channel = 0; channel < channels; channel++, data += spatial, out += spatial) {
        VALUE factor = scale, shift = 0;
#if AFFINE
        factor *= DATA_LOAD(gamma, channel);
        shift = DATA_LOAD(beta, channel);
#endif
        int n = 0;
        for (; n + 16 <= spatial; n += 16) {
            const VALUES result = (DATA_LOAD16(data + n) - mean) * factor + shift;
            DATA_STORE16(result, out + n);
        }
        for (; n < spatial; n++) {
            const VALUE result = (DATA_LOAD(data, n) - mean) * factor + shift;
            DATA_STORE(result, n, out);
        }
    }
#else
    for (int n = 0; n < length; n++) {
        const int at = position_of(n, length, AXES);
        ROW result = (LOAD(data + at) - mean) * scale;
#if AFFINE
        result = result * DATA_LOAD(gamma, n / spatial) + DATA_LOAD(beta, n / spatial);
#endif
        STORE(result, out + at);
    }
#endif
}
