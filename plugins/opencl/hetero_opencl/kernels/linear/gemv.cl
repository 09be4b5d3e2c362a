// Matrix-vector product (gemv), one work-item per element of c. a is stored in row-major order. For the macros, see
// gemm.cl.
kernel void gemv(__global const LEFT* restrict a, __global const RIGHT* restrict b,
                 __global RESULT* restrict c, const int rows, const int columns, const int depth,
                 const int inner, const int a_outer, const int a_inner, const int b_outer,
                 const int b_inner, const int a_offset, const int b_offset, const int c_offset,
                 const int c_batch, const int count EPILOGUE_PARAMETERS)
{
    const int i = get_global_id(0);
    if (i >= count) return;
    const int row = i % rows;
    const int batch = i / rows;
    const int outer = batch / inner;
    const int matrix = batch - outer * inner;
    a += a_offset + outer * (long)a_outer + matrix * (long)a_inner + row * (long)depth;
    b += b_offset + outer * (long)b_outer + matrix * (long)b_inner;
    SUM16 sums = (SUM16)((SUM)0);
    int k = 0;
    for (; k + 16 <= depth; k += 16) sums = sums + WIDEN_LEFT(LEFT_LOAD16(a + k)) * WIDEN_RIGHT(RIGHT_LOAD16(b + k));
    const SUM8 eight = sums.lo + sums.hi;
    const SUM4 four = eight.lo + eight.hi;
    SUM sum = (four.x + four.y) + (four.z + four.w);
    for (; k < depth; k++) sum += (SUM)LEFT_LOAD(a, k) * (SUM)RIGHT_LOAD(b, k);
    const int at = c_offset + batch * c_batch + row;
    RESULT_STORE(EPILOGUE(sum, at, CHANNEL(matrix * rows + row, 0)), at, c);
}
