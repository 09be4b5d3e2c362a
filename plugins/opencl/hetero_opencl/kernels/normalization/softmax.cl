// Softmax of data [outer][length][inner] along the middle axis, or with LOGARITHM 1 its logarithm. The maximum is
// subtracted first, to avoid overflow. Sums are computed in blocks, so that long ones accumulate little rounding error.
// NARROW 1: elements are stored with less precision than computed, so exponentials are computed again instead of being
// kept in the output. EXP16: the exponential of 16 numbers that are at most 0.
typedef DATA_VALUE VALUE;
typedef DATA_VALUE16 VALUES;
#define HALVES_MAX(x) fmax((x).lo, (x).hi)
#define HALVES_SUM(x) ((x).lo + (x).hi)

// One work-item per row.
kernel void softmax(global const DATA *restrict data, global DATA *restrict out, const int length, const int inner,
                    const int count)
{
    const int i = get_global_id(0);
    if (i >= count)
        return;
    const long at = (long)(i / inner) * length * inner + i % inner;
    data += at;
    out += at;
    const int whole = inner == 1 ? length & ~15 : 0;
    VALUES high = -INFINITY;
    for (int n = 0; n < whole; n += 16)
        high = fmax(high, DATA_LOAD16(data + n));
    VALUE largest = HALVES_MAX(HALVES_MAX(HALVES_MAX(HALVES_MAX(high))));
    for (int n = whole; n < length; n++)
        largest = fmax(largest, DATA_LOAD(data, n * inner));
    VALUES sums = 0;
    for (int start = 0; start < whole; start += 2048) {
        VALUES part = 0;
        const int end = min(start + 2048, whole);
        for (int n = start; n < end; n += 16) {
            const VALUES power = EXP16(DATA_LOAD16(data + n) - largest);
            if (LOGARITHM + NARROW == 0)
                DATA_STORE16(power, out + n);
            part += power;
        }
        sums += part;
    }
    VALUE sum = HALVES_SUM(HALVES_SUM(HALVES_SUM(HALVES_SUM(sums))));
    for (int start = whole; start < length; start += 128) {
        VALUE part = 0;
        const int end = min(start + 128, length);
        for (int n = start; n < end; n++) {
            const VALUE power = exp(DATA_LOAD(data, n * inner) - largest);
            if (LOGARITHM + NARROW == 0)
                DATA_STORE(power, n * inner, out);
            part += power;
        }
        sum += part;
    }
    // Two subtractions: with a sum of both terms, a large maximum would absorb the fraction of the logarithm.
    const VALUE final = LOGARITHM ? log(sum) : 1 / sum;
#if LOGARITHM
#define RESULT(load, position) ((load(data, position) - largest) - final)
#elif NARROW
#define RESULT(load, position) (EXP_OF_##load(load(data, position) - largest) * final)
#define EXP_OF_LOAD16 EXP16
#define EXP_OF_DATA_LOAD exp
#else
#define RESULT(load, position) (load(out, position) * final)
#endif
#define LOAD16(pointer, position) DATA_LOAD16(pointer + position)
    for (int n = 0; n < whole; n += 16)
        DATA_STORE16(RESULT(LOAD16, n), out + n);
    for (int n = whole; n < length; n++)
        DATA_STORE(RESULT(DATA_LOAD, n * inner), n * inner, out);
}

// One work-item per 16 neighboring columns. The last ones overlap those before, so columns may be written twice; only
// results are written, and the exponentials are computed twice.
kernel void softmax_columns(global const DATA *restrict data, global DATA *restrict out, const int length,
                            const int inner, const int count)
{
    const int i = get_global_id(0);
    if (i >= count)
        return;
    const int blocks = (inner + 15) / 16;
    const long at = (long)(i / blocks) * length * inner + min(i % blocks * 16, inner - 16);
    data += at;
    out += at;
    VALUES largest = -INFINITY;
    for (int n = 0; n < length; n++)
        largest = fmax(largest, DATA_LOAD16(data + (long)n * inner));
    VALUES sum = 0;
    for (int start = 0; start < length; start += 128) {
        VALUES part = 0;
        const int end = min(start + 128, length);
        for (int n = start; n < end; n++)
            part += EXP16(DATA_LOAD16(data + (long)n * inner) - largest);
        sum += part;
    }
    const VALUES final = LOGARITHM ? log(sum) : 1 / sum;
    for (int n = 0; n < length; n++) {
        const VALUES shifted = DATA_LOAD16(data + (long)n * inner) - largest;
        const VALUES result = LOGARITHM ? shifted - final : EXP16(shifted) * final;
        DATA_STORE16(result, out + (long)n * inner);
    }
}
