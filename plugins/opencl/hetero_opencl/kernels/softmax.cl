// Softmax of data [outer][length][inner] along the middle: LOGARITHM 1 gives the logarithm of it. The largest number is
// taken off first, so that nothing overflows. Sums are of short ones, so that rounding stays small. With NARROW, what
// is stored is less than what was computed, and so powers are computed twice.
typedef DATA_VALUE VALUE;
typedef DATA_VALUE16 VALUES;

#if GROUP > 1
// A work-group of so many computes one row of numbers.
kernel void softmax_shared(global const DATA *restrict data, global DATA *restrict out, const int length,
                           const int inner)
{
    local VALUE parts[GROUP];
    const int row = get_group_id(0), lane = get_local_id(0);
    const int first = row / inner * length * inner + row % inner;
    data += first;
    out += first;
    VALUE largest = -INFINITY;
    for (int n = lane; n < length; n += GROUP)
        largest = fmax(largest, DATA_LOAD(data, n * inner));
    parts[lane] = largest;
    for (int half_group = GROUP / 2; half_group; half_group /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < half_group)
            parts[lane] = fmax(parts[lane], parts[lane + half_group]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    largest = parts[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    VALUE sum = 0;
    for (uint start = lane; start < length; start += 64 * GROUP) {
        VALUE part = 0;
        const uint end = min(start + 64 * GROUP, (uint)length);
        for (uint n = start; n < end; n += GROUP)
            part += exp(DATA_LOAD(data, n * inner) - largest);
        sum += part;
    }
    parts[lane] = sum;
    for (int half_group = GROUP / 2; half_group; half_group /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < half_group)
            parts[lane] += parts[lane + half_group];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const VALUE final = LOGARITHM ? log(parts[0]) : 1 / parts[0];
    for (int n = lane; n < length; n += GROUP) {
        const VALUE shifted = DATA_LOAD(data, n * inner) - largest;
        DATA_STORE(LOGARITHM ? shifted - final : exp(shifted) * final, n * inner, out);
    }
}
#else

// A work-item computes one row of numbers.
kernel void softmax(global const DATA *restrict data, global DATA *restrict out, const int length, const int inner,
                    const int count)
{
    const int i = get_global_id(0);
    if (i >= count)
        return;
    const long at = (long)(i / inner) * length * inner + i % inner;
    data += at;
    out += at;
    const int whole = inner == 1 ? length & ~15 : 0;
    VALUES high = -INFINITY;
    for (int n = 0; n < whole; n += 16)
        high = fmax(high, DATA_LOAD16(data + n));
    VALUE row[16];
    vstore16(high, 0, row);
    VALUE largest = -INFINITY;
    for (int n = 0; n < 16; n++)
        largest = fmax(largest, row[n]);
    for (int n = whole; n < length; n++)
        largest = fmax(largest, DATA_LOAD(data, n * inner));
    VALUES sums = 0;
    for (int start = 0; start < whole; start += 2048) {
        VALUES part = 0;
        const int end = min(start + 2048, whole);
        for (int n = start; n < end; n += 16) {
            const VALUES power = exp(DATA_LOAD16(data + n) - largest);
            if (LOGARITHM + NARROW == 0)
                DATA_STORE16(power, out + n);
            part += power;
        }
        sums += part;
    }
    vstore16(sums, 0, row);
    VALUE sum = 0;
    for (int n = 0; n < 16; n++)
        sum += row[n];
    for (int start = whole; start < length; start += 128) {
        VALUE part = 0;
        const int end = min(start + 128, length);
        for (int n = start; n < end; n++) {
            const VALUE power = exp(DATA_LOAD(data, n * inner) - largest);
            if (LOGARITHM + NARROW == 0)
                DATA_STORE(power, n * inner, out);
            part += power;
        }
        sum += part;
    }
    // One after the other: the sum of both would round off what a large number has behind the point.
    const VALUE final = LOGARITHM ? log(sum) : 1 / sum;
#if LOGARITHM
#define RESULT(load, place) ((load(data, place) - largest) - final)
#elif NARROW
#define RESULT(load, place) (exp(load(data, place) - largest) * final)
#else
#define RESULT(load, place) (load(out, place) * final)
#endif
#define LOAD16(pointer, place) DATA_LOAD16(pointer + place)
    for (int n = 0; n < whole; n += 16)
        DATA_STORE16(RESULT(LOAD16, n), out + n);
    for (int n = whole; n < length; n++)
        DATA_STORE(RESULT(DATA_LOAD, n * inner), n * inner, out);
}

// The same for 16 neighbouring columns in a work-item. The last ones lie back over those before, which work-items then
// write twice; so nothing but results is written, and the powers are computed twice.
kernel void softmax_columns(global const DATA *restrict data, global DATA *restrict out, const int length,
                            const int inner, const int count)
{
    const int i = get_global_id(0);
    if (i >= count)
        return;
    const int blocks = (inner + 15) / 16;
    const long at = (long)(i / blocks) * length * inner + min(i % blocks * 16, inner - 16);
    data += at;
    out += at;
    VALUES largest = -INFINITY;
    for (int n = 0; n < length; n++)
        largest = fmax(largest, DATA_LOAD16(data + (long)n * inner));
    VALUES sum = 0;
    for (int start = 0; start < length; start += 128) {
        VALUES part = 0;
        const int end = min(start + 128, length);
        for (int n = start; n < end; n++)
            part += exp(DATA_LOAD16(data + (long)n * inner) - largest);
        sum += part;
    }
    const VALUES final = LOGARITHM ? log(sum) : 1 / sum;
    for (int n = 0; n < length; n++) {
        const VALUES shifted = DATA_LOAD16(data + (long)n * inner) - largest;
        const VALUES result = LOGARITHM ? shifted - final : exp(shifted) * final;
        DATA_STORE16(result, out + (long)n * inner);
    }
}
#endif
