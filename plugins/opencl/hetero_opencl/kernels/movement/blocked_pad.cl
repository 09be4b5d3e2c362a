// Pad channel blocks (see channel_blocks.cl, which precedes this text) with NUMBER after the last channel, and before
// and after each row and column. DATA, RESULT: element types. top, left: the rows and columns of padding before the
// image. Global size: [parts, blocks times batches]: the first is the number of parts into which the rows of a block
// are divided. Work-groups of one.
kernel void blocked_pad(global const DATA *restrict image, global RESULT *restrict out, const int channels,
                        const int batches, const int height, const int width, const int out_height,
                        const int out_width, const int top, const int left)
{
    const int plane = get_global_id(1), here = channels - plane / batches * BLOCK;
    image += (long)plane * height * width * BLOCK;
    out += (long)plane * out_height * out_width * BLOCK;
    float numbers[BLOCK];
    for (int lane = 0; lane < BLOCK; lane++)
        numbers[lane] = lane;
    const INTEGERS inside = JOIN(vload, BLOCK)(0, numbers) < (VECTOR)(here);
    const int end = (long)out_height * (get_global_id(0) + 1) / get_global_size(0);
    for (int y = (long)out_height * get_global_id(0) / get_global_size(0); y < end; y++) {
        const int in_y = y - top, is_row = here > 0 && in_y >= 0 && in_y < height;
        for (int x = 0; x < out_width; x++) {
            VECTOR value = NUMBER;
            if (is_row && x >= left && x < left + width)
                value = select(value, LOAD_DATA(image + ((long)in_y * width + x - left) * BLOCK), inside);
            STORE_RESULT(value, out + ((long)y * out_width + x) * BLOCK);
        }
    }
}
