// Softmax of data [outer][length][inner] along the middle: one work-item computes one row of numbers. LOGARITHM 1 gives
// the logarithm of it. The largest number is taken off first, so that nothing overflows.

__kernel void softmax(__global const float* restrict data, __global float* restrict out, const int length,
                      const int inner, const int count)
{
    const int i = get_global_id(0);
    if (i >= count) return;
    const long at = (long)(i / inner) * length * inner + i % inner;
    data += at;
    out += at;
    float largest = -INFINITY;
    float sum = 0.0f;
    int n = 0;
    if (inner == 1) {
        float16 high = (float16)(-INFINITY);
        for (; n + 16 <= length; n += 16) high = fmax(high, vload16(0, data + n));
        const float8 eight = fmax(high.lo, high.hi);
        const float4 four = fmax(eight.lo, eight.hi);
        largest = fmax(fmax(four.x, four.y), fmax(four.z, four.w));
        for (; n < length; n++) largest = fmax(largest, data[n]);
        float16 sums = (float16)(0.0f);
        for (n = 0; n + 16 <= length; n += 16) {
            const float16 power = exp(vload16(0, data + n) - largest);
            vstore16(power, 0, out + n);
            sums += power;
        }
        const float8 half_sums = sums.lo + sums.hi;
        const float4 fourth = half_sums.lo + half_sums.hi;
        sum = (fourth.x + fourth.y) + (fourth.z + fourth.w);
    } else {
        for (int k = 0; k < length; k++) largest = fmax(largest, data[k * inner]);
    }
    for (; n < length; n++) {
        const float power = exp(data[n * inner] - largest);
        out[n * inner] = power;
        sum += power;
    }
#if LOGARITHM
    // One after the other: the sum of both would round off what a large number has behind the point.
    const float logarithm = log(sum);
    for (n = 0; n < length; n++) out[n * inner] = (data[n * inner] - largest) - logarithm;
#else
    const float factor = 1.0f / sum;
    for (n = 0; n < length; n++) out[n * inner] *= factor;
#endif
}

// The same for 16 neighbouring columns in a work-item. The last ones lie back over those before, which work-items then
// write twice; so nothing but results is written, and the powers are computed twice.
kernel void softmax_columns(global const float *restrict data, global float *restrict out, const int length,
                            const int inner, const int count)
{
    const int i = get_global_id(0);
    if (i >= count) return;
    const int blocks = (inner + 15) / 16;
    const long at = (long)(i / blocks) * length * inner + min(i % blocks * 16, inner - 16);
    data += at;
    out += at;
    float16 largest = -INFINITY;
    for (int n = 0; n < length; n++) largest = fmax(largest, vload16(0, data + (long)n * inner));
    float16 sum = 0;
    for (int n = 0; n < length; n++) sum += exp(vload16(0, data + (long)n * inner) - largest);
    const float16 final = LOGARITHM ? log(sum) : 1 / sum;
    for (int n = 0; n < length; n++) {
        const float16 shifted = vload16(0, data + (long)n * inner) - largest;
        vstore16(LOGARITHM ? shifted - final : exp(shifted) * final, 0, out + (long)n * inner);
    }
}
