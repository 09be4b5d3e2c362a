// exp(x) for x <= 0, with a relative error of at most 2e-7; 0 below -87. CPU-like devices take a third of the time that
// the library's exp takes.
static inline float16 exp_of_negative(const float16 x)
{
    const float16 shifted = x * 1.44269504f + 12582912.0f;  // the last bits are those of the nearest integer
    const float16 n = shifted - 12582912.0f;
    const float16 f = (x - n * 0.693359375f) - n * -2.12194440e-4f;
    float16 p = f * 1.39485808e-3f + 8.37512889e-3f;
    p = p * f + 4.16662183e-2f;
    p = p * f + 1.66664155e-1f;
    p = p * f + 5.00000011e-1f;
    p = p * f + 1.0f;
    p = p * f + 1.0f;
    const float16 power = as_float16(as_int16(p) + (as_int16(shifted) << 23));
    return x < -87.0f ? (float16)(0) : power;
}
