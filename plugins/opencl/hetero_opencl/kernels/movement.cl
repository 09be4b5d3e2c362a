// Copies along axes of any strides, all counted in words. PARAMETERS holds a length and two strides for each axis, and
// STEPS a STEP for each, the innermost first.
#define STEP(length, source_stride, target_stride) \
    {                                              \
        const int place = rest % length;           \
        rest /= length;                            \
        from += place * source_stride;             \
        to += place * target_stride;               \
    }

kernel void strided_copy(global const WORD *restrict source, global WORD *restrict target, const int source_offset,
                         const int target_offset, PARAMETERS const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    int rest = item, from = source_offset, to = target_offset;
    STEPS
    target[to] = source[from];
}
