// Resample data [outer][length][inner] to [outer][out_length][inner]: each result is a weighted sum of the elements
// around its coordinate: COORDINATE, of the index and two numbers. Weights are computed here, as tables of them would
// be larger than the result. REAL is their C type. SHRINK scales distances; FIRST is the first element relative to
// the coordinate rounded down, 1 - FIRST the last; CUBIC is 1 for Keys' kernel with the parameter COEFFICIENT, 0 for
// a triangle; EXCLUDED is 1 if elements outside of the data have no weight. DATA and OUT are element types, SUM is
// the C type of sums, FINISH(x) converts a sum. Work-items are (inner, position, outer) with IS_INNER_FIRST, else
// (position, inner, outer).

#if WHOLE
// Without contraction, sums that end in a half are rounded in the same way on every device.
#pragma OPENCL FP_CONTRACT OFF
#endif

REAL weight_at(const REAL distance)
{
#if CUBIC
    const REAL a = COEFFICIENT;
    if (distance <= 1)
        return (((a + 2) * distance - (a + 3)) * distance * distance + 1);
    return distance < 2 ? (((a * distance - 5 * a) * distance + 8 * a) * distance - 4 * a) : 0;
#else
    return fmax((REAL)0, 1 - distance);
#endif
}

kernel void long_interpolation(global const DATA *restrict data, global OUT *restrict out, const REAL first,
                               const REAL second, const int length, const int inner, const int out_length)
{
    const int x = get_global_id(1 - IS_INNER_FIRST), y = get_global_id(IS_INNER_FIRST), outer = get_global_id(2);
    if (x >= inner || y >= out_length)
        return;
    const REAL index = y, coordinate = COORDINATE, base = floor(coordinate);
    REAL total = 0;
    for (int tap = FIRST; tap <= 1 - FIRST; tap++) {
        const REAL place = base + tap;
        if (!EXCLUDED || (place >= 0 && place < length))
            total += weight_at(fabs(place - coordinate) * SHRINK);
    }
    SUM sum = 0;
    for (int tap = FIRST; tap <= 1 - FIRST; tap++) {
        const REAL place = base + tap;
        REAL weight = 0;
        if (total != 0 && (!EXCLUDED || (place >= 0 && place < length)))
            weight = weight_at(fabs(place - coordinate) * SHRINK) / total;
        const int from = (int)clamp(place, (REAL)0, (REAL)(length - 1));
        sum += (SUM)weight * DATA_LOAD(data, ((long)outer * length + from) * inner + x);
    }
    OUT_STORE(FINISH(sum), ((long)outer * out_length + y) * inner + x, out);
}
