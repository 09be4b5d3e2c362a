// Reductions: one work-item combines all numbers that go into one number of the output.
//
// The kept and the reduced axes are each merged into as few as can be, KEPT and REDUCED of them; lengths and strides are
// in one buffer of numbers: kept lengths, kept strides, reduced lengths, reduced strides.
// START, TAKE(sum, x) and END(sum) say what is computed; T is the type of the data, S that of the sum, R of the result.

__kernel void reduction(__global const T* restrict data, __global R* restrict out, __global const int* restrict axes,
                        const int length, const int count)
{
    const int i = get_global_id(0);
    if (i >= count) return;
    int at = 0;
    int rest = i;
    for (int axis = KEPT - 1; axis >= 0; axis--) {
        at += rest % axes[axis] * axes[KEPT + axis];
        rest /= axes[axis];
    }
    data += at;
#if REDUCED == 1
    const int stride = axes[2 * KEPT + 1];
    S sum = START;
    int n = 0;
#if FLOATS
    // Several sums, which add up more exactly than one and do not wait for each other.
    if (stride == 1 && length >= 16) {
        S sums[16];
        #pragma unroll
        for (int k = 0; k < 16; k++) sums[k] = START;
        for (; n + 16 <= length; n += 16) {
            #pragma unroll
            for (int k = 0; k < 16; k++) sums[k] = TAKE(sums[k], data[n + k]);
        }
        #pragma unroll
        for (int k = 0; k < 16; k++) sum = JOIN(sum, sums[k]);
    }
#endif
    for (; n < length; n++) sum = TAKE(sum, data[n * stride]);
#else
    S sum = START;
    for (int n = 0; n < length; n++) {
        int from = 0;
        int left = n;
        for (int axis = REDUCED - 1; axis >= 0; axis--) {
            const int size = axes[2 * KEPT + axis];
            from += left % size * axes[2 * KEPT + REDUCED + axis];
            left /= size;
        }
        sum = TAKE(sum, data[from]);
    }
#endif
    out[i] = END(sum);
}
