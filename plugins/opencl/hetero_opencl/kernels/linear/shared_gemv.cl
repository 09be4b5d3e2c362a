// Matrix-vector product (gemv) for GPUs: c[i] = sum over k of a[i * a_row + k * a_step] * b[k * b_step], then the
// epilogue. LANES work-items, a power of two, share a sum: each multiplies every LANESth element, and the parts are
// added as a tree in local memory. A work-group computes ROWS elements of c. Neighboring work-items read neighboring
// elements of a: those of a row, or with ACROSS 1 those of a column.
// CHANNEL_OF(matrix, i): the channel of element i of c; each matrix along the inner axis of the batch has `rows` of
// them. For the other macros and the batch, see gemm.cl.
#define PRODUCT(k) ((SUM)LEFT_LOAD(a, (k) * a_step) * (SUM)RIGHT_LOAD(b, (k) * b_step))

kernel void shared_gemv(global const LEFT *restrict a, global const RIGHT *restrict b, global RESULT *restrict c,
                        const int rows, const int depth, const int inner, const int a_outer, const int a_inner,
                        const int b_outer, const int b_inner, const int a_offset, const int b_offset,
                        const int c_offset, const int c_batch, const int a_row, const int a_step, const int b_step,
                        const int count EPILOGUE_PARAMETERS)
{
    local SUM parts[LANES * ROWS];
    const int item = get_local_id(0);
    const int lane = ACROSS ? item / ROWS : item % LANES, place = ACROSS ? item % ROWS : item / LANES;
    const int index = get_group_id(0) * ROWS + place;
    // All work-items reach the barriers; those behind the last element of c compute it too.
    const int i = min(index, count - 1);
    const int row = i % rows, batch = i / rows, outer = batch / inner, matrix = batch - outer * inner;
    a += a_offset + outer * (long)a_outer + matrix * (long)a_inner + row * (long)a_row;
    b += b_offset + outer * (long)b_outer + matrix * (long)b_inner;
    SUM4 sums = (SUM4)((SUM)0);
    int k = lane;
    for (; k + 3 * LANES < depth; k += 4 * LANES)
        sums = sums + (SUM4)(PRODUCT(k), PRODUCT(k + LANES), PRODUCT(k + 2 * LANES), PRODUCT(k + 3 * LANES));
    for (; k < depth; k += LANES)
        sums.x += PRODUCT(k);
    parts[item] = (sums.x + sums.y) + (sums.z + sums.w);
    for (int half_lanes = LANES / 2; half_lanes; half_lanes /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < half_lanes)
            parts[item] += parts[item + half_lanes * (ACROSS ? ROWS : 1)];
    }
    if (lane == 0 && index < count) {
        const int at = c_offset + batch * c_batch + row;
        RESULT_STORE(EPILOGUE(parts[item], at, CHANNEL_OF(matrix, row)), at, c);
    }
}
