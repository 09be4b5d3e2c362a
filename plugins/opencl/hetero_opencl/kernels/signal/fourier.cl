// Fourier transforms of n points along the middle axis of [outer][given][inner], truncated or zero-padded; the first
// `written` results are kept, [outer][written][inner]. Inputs and outputs are REAL numbers, PAIRS of real and imaginary
// parts, or HALF: the first half of the pairs of a conjugate-symmetric signal.
#define REAL 0
#define PAIRS 1
#define HALF 2

static inline COMPLEX element(global const SOURCE *source, const int form, const int first, const int i,
                              const int available, const int n, const int inner)
{
    const int is_conjugate = form == HALF && i > n / 2;
    const int position = is_conjugate ? n - i : i;
    if (position >= available)
        return 0;
    const int at = first + position * inner;
    if (form == REAL)
        return (COMPLEX)(SOURCE_LOAD(source, at), 0);
    const SOURCE_VALUE imaginary = SOURCE_LOAD(source, 2 * at + 1);
    return (COMPLEX)(SOURCE_LOAD(source, 2 * at), is_conjugate ? -imaginary : imaginary);
}

static inline void put(const COMPLEX z, global TARGET *target, const int form, const int at)
{
    if (form == REAL) {
        TARGET_STORE(z.x, at, target);
    } else {
        TARGET_STORE(z.x, 2 * at, target);
        TARGET_STORE(z.y, 2 * at + 1, target);
    }
}

static inline COMPLEX product(const COMPLEX a, const COMPLEX b)
{
    return (COMPLEX)(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

// One pass of Stockham's algorithm: combine transforms of `done` points into transforms of radix * done points. `roots`
// are the n-th roots of unity.
kernel void butterflies(global const SOURCE *restrict source, global const COMPLEX *restrict roots,
                        global TARGET *restrict target, const int from, const int to, const int available, const int n,
                        const int written, const int inner, const int done, const int radix,
                        const SOURCE_VALUE scale, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    const int position = item / inner % written, first = item / inner / written * available * inner + item % inner;
    const int span = done * radix, frequency = position % span, start = position / span * done + frequency % done;
    const int step = frequency * (n / span);
    COMPLEX sum = 0;
    int turn = 0;
    for (int t = 0; t < radix; t++) {
        sum += product(element(source, from, first, start + t * (n / radix), available, n, inner), roots[turn]);
        turn += step;
        turn -= turn >= n ? n : 0;
    }
    put(sum * scale, target, to, item);
}

// Multiply the first n points by factors; the others become 0.
kernel void modulate(global const SOURCE *restrict source, global const COMPLEX *restrict factors,
                     global TARGET *restrict target, const int from, const int to, const int available, const int n,
                     const int written, const int inner, const SOURCE_VALUE scale, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    const int position = item / inner % written, first = item / inner / written * available * inner + item % inner;
    COMPLEX result = 0;
    if (position < n)
        result = product(element(source, from, first, position, available, n, inner), factors[position]) * scale;
    put(result, target, to, item);
}
