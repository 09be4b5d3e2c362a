// Data [outer][length][inner] resampled along the middle to [outer][size][inner]: each number is a weighted sum of TAPS
// numbers of the data. T is the element type; without WEIGHTED there is one tap, whose weight is 1.

__kernel void interpolation(__global const T* restrict data, __global T* restrict out,
                            __global const int* restrict indices,
#if WEIGHTED
                            __global const float* restrict weights,
#endif
                            const int length, const int size, const int inner, const int count)
{
    const int i = get_global_id(0);
    if (i >= count) return;
    const int column = i % inner;
    const int place = i / inner % size;
    data += (long)(i / inner / size) * length * inner + column;
#if WEIGHTED
    float sum = 0.0f;
    for (int tap = 0; tap < TAPS; tap++) {
        sum += weights[place * TAPS + tap] * data[(long)indices[place * TAPS + tap] * inner];
    }
    out[i] = sum;
#else
    out[i] = data[(long)indices[place] * inner];
#endif
}
