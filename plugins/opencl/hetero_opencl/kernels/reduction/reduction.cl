// target[kept] = FINISH(COMBINE over all reduced axes of TERM(source[kept, reduced])); axes are listed innermost first.
// A work-item computes WIDTH neighbors along kept axis 0 in a vector. With RUN the innermost reduced axis is contiguous
// and is combined 16 elements at a time. Partial results are combined per loop level, so that long sums accumulate
// little rounding error.
// With LANES > 1, a power of two, as many work-items compute a result, and a work-group RESULTS of them. Neighboring
// work-items read neighboring elements: those of a result, or with ACROSS 1 those of neighboring results. ONE_AXIS:
// only axis 0 is reduced. With SLICED 1 as many work-groups as there are slices compute parts of the same results,
// TARGET, and a second launch combines them.
#if WIDTH == 1
#define LOAD(pointer) ((VALUE)DATA_LOAD(pointer, 0))
#define STORE(value, pointer) DATA_STORE(value, 0, pointer)
#else
#define LOAD(pointer) DATA_LOAD16(pointer)
#define STORE(value, pointer) DATA_STORE16(value, pointer)
#endif

#ifdef WHOLE
static inline ulong root(const ulong square)
{
    ulong found = min((ulong)sqrt((float)square), (ulong)UINT_MAX);
    while (found * found > square)
        found--;
    while (found < UINT_MAX && (found + 1) * (found + 1) <= square)
        found++;
    return found;
}

// Mean from the sums of quotients and of remainders, which do not overflow. Rounded towards zero.
static inline WHOLE mean_of(const WHOLE quotients, const WHOLE remainders, const int elements)
{
    const WHOLE quotient = quotients + remainders / elements, remainder = remainders % elements;
    return quotient + (quotient < 0 && remainder > 0) - (quotient > 0 && remainder < 0);
}
#endif

#if LANES > 1
// The sum of the parts of LANES work-items, `step` apart. Only that of lane 0 is valid.
static inline __attribute__((always_inline)) VALUES
combined(const VALUES own, local VALUES *parts, const int item, const int lane, const int step)
{
    parts[item] = own;
    for (int half_lanes = LANES / 2; half_lanes; half_lanes /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < half_lanes)
            parts[item] = COMBINE(parts[item], parts[item + half_lanes * step]);
    }
    return parts[item];
}

#if ONE_AXIS
#define POSITION(index) ((int)(index) * stride0)
#else
#define POSITION(index) position_of(index, reduced0, stride0, reduced1, stride1, reduced2, stride2, stride3)
static inline __attribute__((always_inline)) int
position_of(const int index, const int reduced0, const int stride0, const int reduced1, const int stride1,
            const int reduced2, const int stride2, const int stride3)
{
    const int row = index / reduced0;
    return index % reduced0 * stride0 + row % reduced1 * stride1 + row / reduced1 % reduced2 * stride2
           + row / reduced1 / reduced2 * stride3;
}
#endif

kernel void reduce_shared(global const DATA *restrict source, global TARGET *restrict target,
                          const int kept0, const int kept_stride0, const int kept1, const int kept_stride1,
                          const int kept2, const int kept_stride2, const int kept3, const int kept_stride3,
                          const int reduced0, const int stride0, const int reduced1, const int stride1,
                          const int reduced2, const int stride2, const int reduced3, const int stride3,
                          const int elements, const int slices, const int slice, const int count)
{
    local VALUES parts[LANES * RESULTS];
    const int item = get_local_id(0);
    const int lane = ACROSS ? item / RESULTS : item % LANES, place = ACROSS ? item % RESULTS : item / LANES;
    const int group = get_group_id(0), at = group / slices * RESULTS + place;
    // All work-items reach the barriers; those behind the last result compute it too.
    const int kept = min(at, count - 1), outer = kept / kept0;
    source += kept % kept0 * kept_stride0 + outer % kept1 * kept_stride1 + outer / kept1 % kept2 * kept_stride2
              + outer / kept1 / kept2 * kept_stride3;
    const uint first = group % slices * (uint)slice, last = min(first + slice, (uint)elements);
    VALUES result = IDENTITY;
    for (uint start = first + lane; start < last; start += 64 * LANES) {
        VALUES part = IDENTITY;
        const uint end = min(start + 64 * LANES, last);
        uint index = start;
        for (; index + 3 * LANES < end; index += 4 * LANES) {
            const VALUE a = LOAD(source + POSITION(index)), b = LOAD(source + POSITION(index + LANES));
            const VALUE c = LOAD(source + POSITION(index + 2 * LANES)), d = LOAD(source + POSITION(index + 3 * LANES));
            const VALUES of_a = TERM(a), of_b = TERM(b), of_c = TERM(c), of_d = TERM(d);
            const VALUES low = COMBINE(of_a, of_b), high = COMBINE(of_c, of_d), both = COMBINE(low, high);
            part = COMBINE(part, both);
        }
        if (index < end) {
            // Up to three more, read at once.
            const uint next = index + LANES, after = next + LANES;
            const VALUE a = LOAD(source + POSITION(index)), b = LOAD(source + POSITION(min(next, end - 1)));
            const VALUE c = LOAD(source + POSITION(min(after, end - 1)));
            const VALUES of_a = TERM(a), of_b = TERM(b), of_c = TERM(c);
            part = COMBINE(part, of_a);
            if (next < end)
                part = COMBINE(part, of_b);
            if (after < end)
                part = COMBINE(part, of_c);
        }
        result = COMBINE(result, part);
    }
    result = combined(result, parts, item, lane, ACROSS ? RESULTS : 1);
    if (lane == 0 && at < count) {
#if SLICED
        target[at * slices + group % slices] = result;
#else
        STORE(FINISH(result), target + at);
#endif
    }
}

#if SLICED
// Combine the parts of a result that work-groups of reduce_shared have computed. A work-group of LANES computes one.
kernel void combine_slices(global const VALUES *restrict source, global DATA *restrict target, const int elements,
                           const int slices)
{
    local VALUES parts[LANES];
    const int lane = get_local_id(0), at = get_group_id(0);
    VALUES result = IDENTITY;
    for (int index = lane; index < slices; index += LANES)
        result = COMBINE(result, source[at * slices + index]);
    result = combined(result, parts, lane, lane, 1);
    if (lane == 0)
        STORE(FINISH(result), target + at);
}
#endif
#else

#ifdef RUN
static inline VALUES reduce_innermost(global const DATA *source, const int length, const int stride, const int elements)
{
    DATA_VALUE16 a = IDENTITY, b = IDENTITY, c = IDENTITY, d = IDENTITY;
    int index = 0;
    for (; index + 64 <= length; index += 64) {
        const DATA_VALUE16 p = DATA_LOAD16(source + index), q = DATA_LOAD16(source + index + 16);
        const DATA_VALUE16 r = DATA_LOAD16(source + index + 32), s = DATA_LOAD16(source + index + 48);
        a = COMBINE(a, TERM(p));
        b = COMBINE(b, TERM(q));
        c = COMBINE(c, TERM(r));
        d = COMBINE(d, TERM(s));
    }
    for (; index + 16 <= length; index += 16) {
        const DATA_VALUE16 p = DATA_LOAD16(source + index);
        a = COMBINE(a, TERM(p));
    }
    a = COMBINE(a, b);
    c = COMBINE(c, d);
    a = COMBINE(a, c);
    const VALUE8 eight = COMBINE(a.lo, a.hi);
    const VALUE4 four = COMBINE(eight.lo, eight.hi);
    const VALUE2 two = COMBINE(four.lo, four.hi);
    VALUES result = COMBINE(two.lo, two.hi);
    for (; index < length; index++) {
        const VALUE value = LOAD(source + index);
        result = COMBINE(result, TERM(value));
    }
    return result;
}
#else
static inline VALUES reduce_innermost(global const DATA *source, const int length, const int stride, const int elements)
{
    VALUES result = IDENTITY;
    for (int start = 0; start < length; start += 256) {
        VALUES part = IDENTITY;
        const int end = min(start + 256, length);
        for (int index = start; index < end; index++) {
            const VALUE value = LOAD(source + index * stride);
            part = COMBINE(part, TERM(value));
        }
        result = COMBINE(result, part);
    }
    return result;
}
#endif

kernel void reduce(global const DATA *restrict source, global DATA *restrict target,
                   const int kept0, const int kept_stride0, const int kept1, const int kept_stride1,
                   const int kept2, const int kept_stride2, const int kept3, const int kept_stride3,
                   const int reduced0, const int stride0, const int reduced1, const int stride1,
                   const int reduced2, const int stride2, const int reduced3, const int stride3,
                   const int elements, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    const int blocks = (kept0 + WIDTH - 1) / WIDTH, outer = item / blocks;
    const int first = min(item % blocks * WIDTH, kept0 - WIDTH);
    source += first * kept_stride0 + outer % kept1 * kept_stride1 + outer / kept1 % kept2 * kept_stride2
              + outer / kept1 / kept2 * kept_stride3;
    VALUES result = IDENTITY;
    for (int k = 0; k < reduced3; k++) {
        VALUES volume = IDENTITY;
        for (int j = 0; j < reduced2; j++) {
            VALUES plane = IDENTITY;
            for (int i = 0; i < reduced1; i++) {
                global const DATA *row = source + i * stride1 + j * stride2 + k * stride3;
                const VALUES of_row = reduce_innermost(row, reduced0, stride0, elements);
                plane = COMBINE(plane, of_row);
            }
            volume = COMBINE(volume, plane);
        }
        result = COMBINE(result, volume);
    }
    STORE(FINISH(result), target + outer * kept0 + first);
}
#endif
