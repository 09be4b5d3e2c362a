// The second stage of a product whose depth is divided: add the sums of all parts, [batch][part][row][column], then the
// epilogue. One work-item per result. For the macros, see gemm.cl.
kernel void sum_parts(global const SUM *restrict sums, global RESULT *restrict c, const int rows, const int columns,
                      const int inner, const int parts, const int c_offset, const int c_batch,
                      const int count EPILOGUE_PARAMETERS)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    const int size = rows * columns, batch = item / size, place = item - batch * size;
    const int row = place / columns, column = place - row * columns, matrix = batch % inner;
    sums += (long)batch * parts * size + place;
    SUM sum = 0;
    for (int part = 0; part < parts; part++)
        sum = sum + sums[(long)part * size];
    const int at = c_offset + batch * c_batch + place;
    RESULT_STORE(EPILOGUE(sum, at, CHANNEL(matrix * rows + row, column)), at, c);
}
