// Inclusive or exclusive scan of data [outer][length][inner] along the middle axis, on GPUs; see cumulative.cl for the
// macros. GROUP work-items, a power of two, share a chunk of a row. One launch of scan_chunk if a row is one chunk, or
// two: total_of_chunk writes the total of each chunk, [outer][inner][chunks]; scan_chunk begins with the totals before.
#define PLACE(k) ((long)(reverse ? length - 1 - (k) : (k)) * inner)
#define PARAMETERS const int length, const int inner, const int chunks, const int chunk, const int reverse
#define BEGIN                                                                              \
    local SUM parts[GROUP];                                                                \
    const int lane = get_local_id(0), row = get_group_id(0) / chunks;                      \
    const int start = get_group_id(0) % chunks * chunk, end = min(length, start + chunk);  \
    const long origin = (long)(row / inner) * length * inner + row % inner;                \
    SUM sum = IDENTITY;

// The combination of the parts of all lanes.
static inline __attribute__((always_inline)) SUM
combined(const SUM own, local SUM *parts, const int lane)
{
    parts[lane] = own;
    for (int half_group = GROUP / 2; half_group; half_group /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < half_group)
            parts[lane] = COMBINE(parts[lane], parts[lane + half_group]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    return parts[0];
}

kernel void total_of_chunk(global const DATA *restrict data, global SUM *restrict totals, PARAMETERS)
{
    BEGIN
    #pragma unroll 4
    for (int k = start + lane; k < end; k += GROUP)
        sum = COMBINE(sum, (SUM)DATA_LOAD(data, origin + PLACE(k)));
    sum = combined(sum, parts, lane);
    if (lane == 0)
        totals[get_group_id(0)] = sum;
}

kernel void scan_chunk(global const DATA *restrict data, global const SUM *restrict totals, global DATA *restrict out,
                       PARAMETERS, const int exclusive)
{
    BEGIN
    if (chunks > 1) {
        for (int i = lane; i < start / chunk; i += GROUP)
            sum = COMBINE(sum, totals[row * chunks + i]);
        sum = combined(sum, parts, lane);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    // Each work-item scans four elements, and the group their totals.
    for (int tile = start; tile < end; tile += 4 * GROUP) {
        const int first = tile + 4 * lane;
        SUM scanned[4];
        #pragma unroll
        for (int j = 0; j < 4; j++)
            scanned[j] = first + j < end ? (SUM)DATA_LOAD(data, origin + PLACE(first + j)) : (SUM)IDENTITY;
        #pragma unroll
        for (int j = 1; j < 4; j++)
            scanned[j] = COMBINE(scanned[j - 1], scanned[j]);
        SUM total = scanned[3];
        parts[lane] = total;
        for (int step = 1; step < GROUP; step *= 2) {
            barrier(CLK_LOCAL_MEM_FENCE);
            const SUM before = lane >= step ? parts[lane - step] : (SUM)IDENTITY;
            barrier(CLK_LOCAL_MEM_FENCE);
            total = COMBINE(before, total);
            parts[lane] = total;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        const SUM before = COMBINE(sum, lane ? parts[lane - 1] : (SUM)IDENTITY);
        sum = COMBINE(sum, parts[GROUP - 1]);
        barrier(CLK_LOCAL_MEM_FENCE);
        #pragma unroll
        for (int j = 0; j < 4; j++) {
            const SUM here = COMBINE(before, scanned[j]);
            const SUM previous = j ? COMBINE(before, scanned[max(j, 1) - 1]) : before;
            if (first + j < end)
                DATA_STORE(exclusive ? previous : here, origin + PLACE(first + j), out);
        }
    }
}
