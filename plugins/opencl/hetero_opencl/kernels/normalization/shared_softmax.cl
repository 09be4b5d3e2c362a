// Softmax of data [outer][length][inner] along the middle axis on GPUs, or with LOGARITHM 1 its logarithm. LANES
// work-items, a power of two, share a row, and a work-group has ROWS rows. Neighboring work-items read neighboring
// elements: those of a row, or with ACROSS 1 those of neighboring rows.
// One launch of softmax_rows, or two: softmax_parts finds the maximum and the sum of `slices` parts of each row, of
// `slice` elements; softmax_of_parts combines these, and writes a part. The maximum is subtracted first, to avoid
// overflow. Sums are computed in blocks, so that long ones accumulate little rounding error.
typedef DATA_VALUE VALUE;
// What is subtracted in place of a maximum: exponentials of elements that are all -INFINITY are 0.
#define SHIFT(largest) ((largest) == -INFINITY ? 0 : (largest))
#define PARAMETERS const int length, const int inner, const int slices, const int slice, const int count
// Where a work-item is: its lane, its place in the work-group, its row, and its part of the row.
#define BEGIN                                                                                                         \
    local VALUE parts[LANES * ROWS];                                                                                  \
    const int item = get_local_id(0), group = get_group_id(0);                                                        \
    const int lane = ACROSS ? item / ROWS : item % LANES, place = ACROSS ? item % ROWS : item / LANES;                \
    const int at = group / slices * ROWS + place;                                                                     \
    /* All work-items reach the barriers; those behind the last row compute it too. */                                \
    const int row = min(at, count - 1), part = group % slices;                                                        \
    const int first = part * slice, last = min(first + slice, length);                                                \
    const long start = (long)(row / inner) * length * inner + row % inner;                                            \
    VALUE largest = -INFINITY, sum = 0;
#define OF_LANES(combined)                                                       \
    for (int half_lanes = LANES / 2; half_lanes; half_lanes /= 2) {              \
        barrier(CLK_LOCAL_MEM_FENCE);                                            \
        if (lane < half_lanes) {                                                 \
            const VALUE a = parts[item], b = parts[item + half_lanes * step];    \
            parts[item] = combined;                                              \
        }                                                                        \
    }                                                                            \
    barrier(CLK_LOCAL_MEM_FENCE);

// Add elements from `first` to `last`, of which each lane takes every LANESth, to the sum of exponentials.
static inline __attribute__((always_inline)) void
add_elements(global const DATA *data, const int inner, const int lane, const int first,
             const int last, VALUE *largest, VALUE *sum)
{
    for (int start = first + lane; start < last; start += 64 * LANES) {
        const int end = min(start + 64 * LANES, last);
        VALUE block = 0;
        for (int n = start; n < end; n += 4 * LANES) {
            // Those behind the end have no weight; all four are read at once.
            const VALUE a = DATA_LOAD(data, n * inner);
            const VALUE b = DATA_LOAD(data, min(n + LANES, end - 1) * inner);
            const VALUE c = DATA_LOAD(data, min(n + 2 * LANES, end - 1) * inner);
            const VALUE d = DATA_LOAD(data, min(n + 3 * LANES, end - 1) * inner);
            const VALUE high = fmax(*largest, fmax(fmax(a, b), fmax(c, d))), shift = SHIFT(high);
            const VALUE of_b = n + LANES < end ? exp(b - shift) : 0, of_c = n + 2 * LANES < end ? exp(c - shift) : 0;
            const VALUE of_d = n + 3 * LANES < end ? exp(d - shift) : 0, factor = exp(*largest - shift);
            *sum *= factor;
            block = block * factor + ((exp(a - shift) + of_b) + (of_c + of_d));
            *largest = high;
        }
        *sum += block;
    }
}

// Combine the maxima and sums of all lanes of a row.
static inline __attribute__((always_inline)) void
combine_lanes(local VALUE *parts, const int item, const int lane, VALUE *largest, VALUE *sum)
{
    const int step = ACROSS ? ROWS : 1, origin = item - lane * step;
    parts[item] = *largest;
    OF_LANES(fmax(a, b))
    const VALUE high = parts[origin];
    barrier(CLK_LOCAL_MEM_FENCE);
    parts[item] = *sum * exp(*largest - SHIFT(high));
    OF_LANES(a + b)
    *largest = high;
    *sum = parts[origin];
}

static inline __attribute__((always_inline)) void
write_elements(global const DATA *data, global DATA *out, const int inner, const int lane,
               const int first, const int last, const VALUE largest, const VALUE sum)
{
    const VALUE final = LOGARITHM ? log(sum) : 1 / sum;
    #pragma unroll 4
    for (int n = first + lane; n < last; n += LANES) {
        const VALUE shifted = DATA_LOAD(data, n * inner) - largest;
        DATA_STORE(LOGARITHM ? shifted - final : exp(shifted) * final, n * inner, out);
    }
}

kernel void softmax_rows(global const DATA *restrict data, global DATA *restrict out, PARAMETERS)
{
    BEGIN
    add_elements(data + start, inner, lane, first, last, &largest, &sum);
    combine_lanes(parts, item, lane, &largest, &sum);
    if (at < count)
        write_elements(data + start, out + start, inner, lane, first, last, largest, sum);
}

kernel void softmax_parts(global const DATA *restrict data, global VALUE *restrict found, PARAMETERS)
{
    BEGIN
    add_elements(data + start, inner, lane, first, last, &largest, &sum);
    combine_lanes(parts, item, lane, &largest, &sum);
    if (lane == 0 && at < count) {
        found[2 * (at * slices + part)] = largest;
        found[2 * (at * slices + part) + 1] = sum;
    }
}

kernel void softmax_of_parts(global const DATA *restrict data, global const VALUE *restrict found,
                             global DATA *restrict out, PARAMETERS)
{
    BEGIN
    found += 2 * row * slices;
    for (int i = lane; i < slices; i += LANES) {
        const VALUE high = fmax(largest, found[2 * i]), shift = SHIFT(high);
        sum = sum * exp(largest - shift) + found[2 * i + 1] * exp(found[2 * i] - shift);
        largest = high;
    }
    combine_lanes(parts, item, lane, &largest, &sum);
    if (at < count)
        write_elements(data + start, out + start, inner, lane, first, last, largest, sum);
}
