// Rows of numbers less their mean, and with NORMALIZE divided by their deviation: one work-item makes one row.
// DEVIATION is the deviation of a variance, epsilon added where it belongs.
inline float sum16(const float16 values)
{
    const float8 eight = values.lo + values.hi;
    const float4 four = eight.lo + eight.hi;
    return (four.x + four.y) + (four.z + four.w);
}

kernel void mvn(global const float *restrict data, global float *restrict out, const int length, const float epsilon,
                const int count)
{
    const int row = get_global_id(0);
    if (row >= count)
        return;
    data += (long)row * length;
    out += (long)row * length;
    const int whole = length & ~15;
    float16 sums = 0;
    float sum = 0;
    for (int n = 0; n < whole; n += 16)
        sums += vload16(0, data + n);
    for (int n = whole; n < length; n++)
        sum += data[n];
    const float mean = (sum16(sums) + sum) / length;
    float scale = 1;
#if NORMALIZE
    float16 squares = 0;
    float square = 0;
    for (int n = 0; n < whole; n += 16) {
        const float16 centred = vload16(0, data + n) - mean;
        squares += centred * centred;
    }
    for (int n = whole; n < length; n++)
        square += (data[n] - mean) * (data[n] - mean);
    const float variance = (sum16(squares) + square) / length;
    scale = 1 / (DEVIATION);
#endif
    for (int n = 0; n < whole; n += 16)
        vstore16((vload16(0, data + n) - mean) * scale, 0, out + n);
    for (int n = whole; n < length; n++)
        out[n] = (data[n] - mean) * scale;
}
