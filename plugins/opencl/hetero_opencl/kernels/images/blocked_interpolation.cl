// Resample channel blocks (see channel_blocks.cl, which precedes this text) along rows and columns: each result is a
// weighted sum of ROW_TAPS × COLUMN_TAPS vectors. Tables of indices and weights are [tap][size]. DATA, RESULT: element
// types; sums are float. Global size: [any number, blocks times batches]: the first is the number of parts into which
// the rows of a block are divided. Work-groups of one.
kernel void blocked_interpolation(global const DATA *restrict image, global RESULT *restrict out,
                                  global const int *restrict row_indices, global const float *restrict row_weights,
                                  global const int *restrict column_indices,
                                  global const float *restrict column_weights, const int height, const int width,
                                  const int out_height, const int out_width)
{
    const int plane = get_global_id(1), end = (long)out_height * (get_global_id(0) + 1) / get_global_size(0);
    image += (long)plane * height * width * BLOCK;
    for (int y = (long)out_height * get_global_id(0) / get_global_size(0); y < end; y++) {
        for (int x = 0; x < out_width; x++) {
            VECTOR sum = 0;
            for (int i = 0; i < ROW_TAPS; i++) {
                global const DATA *row = image + (long)row_indices[i * out_height + y] * width * BLOCK;
                VECTOR part = 0;
                for (int j = 0; j < COLUMN_TAPS; j++) {
                    const VECTOR value = LOAD_DATA(row + column_indices[j * out_width + x] * BLOCK);
                    part = value * column_weights[j * out_width + x] + part;
                }
                sum = part * row_weights[i * out_height + y] + sum;
            }
            STORE_RESULT(sum, out + (((long)plane * out_height + y) * out_width + x) * BLOCK);
        }
    }
}
