// Copy with arbitrary strides, in words. PARAMETERS declares a length, a source stride and a target stride per axis;
// STEPS holds one STEP per axis, the innermost first.
#define STEP(length, source_stride, target_stride) \
    {                                              \
        const int index = rest % length;           \
        rest /= length;                            \
        from += index * source_stride;             \
        to += index * target_stride;               \
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
