// target[kept] = FINISH(COMBINE of TERM(source[kept, reduced]) over all reduced), axes from the innermost on.
// A work-item makes WIDTH neighbours along kept axis 0, VALUES at once; with RUN it makes one, and the innermost
// reduced axis is a row of neighbours, combined 16 at a time. Every loop combines apart from the others, so that in a
// long sum each number meets few additions, and rounding stays small.
#if WIDTH == 1
#define LOAD(pointer) ((VALUES)*(pointer))
#define STORE(value, pointer) *(pointer) = (ELEMENT)(value)
#else
#define LOAD(pointer) vload16(0, pointer)
#define STORE(value, pointer) vstore16(value, 0, pointer)
#endif

inline long root(long square)
{
    long found = (long)sqrt((float)square);
    while (found * found > square)
        found--;
    while ((found + 1) * (found + 1) <= square)
        found++;
    return found;
}

#ifdef RUN
inline float reduce_innermost(global const float *source, const int length, const int stride)
{
    float16 a = IDENTITY, b = IDENTITY, c = IDENTITY, d = IDENTITY;
    int index = 0;
    for (; index + 64 <= length; index += 64) {
        const float16 p = vload16(0, source + index), q = vload16(1, source + index);
        const float16 r = vload16(2, source + index), s = vload16(3, source + index);
        a = COMBINE(a, TERM(p));
        b = COMBINE(b, TERM(q));
        c = COMBINE(c, TERM(r));
        d = COMBINE(d, TERM(s));
    }
    for (; index + 16 <= length; index += 16) {
        const float16 p = vload16(0, source + index);
        a = COMBINE(a, TERM(p));
    }
    a = COMBINE(COMBINE(a, b), COMBINE(c, d));
    const float8 eight = COMBINE(a.lo, a.hi);
    const float4 four = COMBINE(eight.lo, eight.hi);
    const float2 two = COMBINE(four.lo, four.hi);
    float result = COMBINE(two.lo, two.hi);
    for (; index < length; index++) {
        const float value = source[index];
        result = COMBINE(result, TERM(value));
    }
    return result;
}
#else
inline VALUES reduce_innermost(global const ELEMENT *source, const int length, const int stride)
{
    VALUES result = IDENTITY;
    for (int start = 0; start < length; start += 256) {
        VALUES part = IDENTITY;
        const int end = min(start + 256, length);
        for (int index = start; index < end; index++) {
            const VALUES value = LOAD(source + index * stride);
            part = COMBINE(part, TERM(value));
        }
        result = COMBINE(result, part);
    }
    return result;
}
#endif

kernel void reduce(global const ELEMENT *restrict source, global ELEMENT *restrict target,
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
                const VALUES row = reduce_innermost(source + i * stride1 + j * stride2 + k * stride3, reduced0, stride0);
                plane = COMBINE(plane, row);
            }
            volume = COMBINE(volume, plane);
        }
        result = COMBINE(result, volume);
    }
    STORE(FINISH(result), target + outer * kept0 + first);
}
