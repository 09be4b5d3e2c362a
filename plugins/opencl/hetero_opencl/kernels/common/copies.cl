// Copy with arbitrary strides, in words. PARAMETERS declares a length, a source stride and a target stride per axis;
// STEPS holds one STEP per axis, the innermost first. With ROWS 1 there is one more axis, a row, of which a work-item
// copies one of `parts` parts; SOURCE_STRIDE and TARGET_STRIDE are the arguments, or 0 or 1, for which the compiler
// forms vectors. Otherwise a work-item copies a word.
#define STEP(length, source_stride, target_stride) \
    {                                              \
        const int index = rest % length;           \
        rest /= length;                            \
        from += index * source_stride;             \
        to += index * target_stride;               \
    }

#if ROWS
kernel void strided_copy(global const WORD *restrict source, global WORD *restrict target, const int source_offset,
                         const int target_offset, PARAMETERS const int length, const int source_stride,
                         const int target_stride, const int parts, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    const int part = item % parts, end = (long)length * (part + 1) / parts;
    int rest = item / parts, from = source_offset, to = target_offset;
    STEPS
    for (int i = (long)length * part / parts; i < end; i++)
        target[to + i * TARGET_STRIDE] = source[from + i * SOURCE_STRIDE];
}
#else
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
#endif
