// target[kept] = FINISH(COMBINE over all reduced axes of TERM(source[kept, reduced])); axes are listed innermost first.
// A work-item computes WIDTH neighbors along kept axis 0 in a vector. With RUN the innermost reduced axis is contiguous
// and is combined 16 elements at a time. With GROUP > 1 a work-group computes one result. Partial results are combined
// per loop level, so that long sums accumulate little rounding error.
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

#if GROUP > 1
kernel void reduce(global const DATA *restrict source, global DATA *restrict target,
                   const int kept0, const int kept_stride0, const int kept1, const int kept_stride1,
                   const int kept2, const int kept_stride2, const int kept3, const int kept_stride3,
                   const int reduced0, const int stride0, const int reduced1, const int stride1,
                   const int reduced2, const int stride2, const int reduced3, const int stride3,
                   const int elements)
{
    local VALUES parts[GROUP];
    const int item = get_group_id(0), lane = get_local_id(0), outer = item / kept0;
    source += item % kept0 * kept_stride0 + outer % kept1 * kept_stride1 + outer / kept1 % kept2 * kept_stride2
              + outer / kept1 / kept2 * kept_stride3;
    VALUES result = IDENTITY;
    for (uint start = lane; start < elements; start += 64 * GROUP) {
        VALUES part = IDENTITY;
        const uint end = min(start + 64 * GROUP, (uint)elements);
        for (uint index = start; index < end; index += GROUP) {
            int position = index * stride0;
            if (reduced0 != elements) {
                const int row = index / reduced0;
                position = index % reduced0 * stride0 + row % reduced1 * stride1 + row / reduced1 % reduced2 * stride2
                        + row / reduced1 / reduced2 * stride3;
            }
            const VALUE value = LOAD(source + position);
            part = COMBINE(part, TERM(value));
        }
        result = COMBINE(result, part);
    }
    parts[lane] = result;
    for (int half_group = GROUP / 2; half_group; half_group /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < half_group)
            parts[lane] = COMBINE(parts[lane], parts[lane + half_group]);
    }
    if (lane == 0) {
        result = parts[0];
        STORE(FINISH(result), target + item);
    }
}
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
