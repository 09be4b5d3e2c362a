// Conversion of values [batch][channels][length] between row-major order and blocks
// [channels / BLOCK][batch][length][BLOCK]. A work-item converts up to POSITIONS positions of a block.
// WORD is the C type that moves one element. Padding of the last block is left as it is. With SQUARES 1,
// transposition.cl precedes this text, and 16 channels at 16 positions are converted in vectors.
#define POSITIONS 16

kernel void rows_to_blocks(global const WORD *restrict rows, global WORD *restrict blocks, const int batch,
                           const int channels, const int length, const int parts, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    const int first = item % parts * POSITIONS, image = item / parts % batch, block = item / parts / batch;
    const int here = min(BLOCK, channels - block * BLOCK), end = min(first + POSITIONS, length);
    rows += ((long)image * channels + block * BLOCK) * length;
    blocks += ((long)block * batch + image) * length * BLOCK;
#if SQUARES
    if (here == 16 && end - first == 16) {
        SQUARE values[16];
        #pragma unroll
        for (int c = 0; c < 16; c++)
            values[c] = vload16(0, rows + c * length + first);
        transpose(values);
        #pragma unroll
        for (int x = 0; x < 16; x++)
            vstore16(values[x], first + x, blocks);
        return;
    }
#endif
    if (here == BLOCK) {
        for (int x = first; x < end; x++) {
            #pragma unroll
            for (int c = 0; c < BLOCK; c++)
                blocks[x * BLOCK + c] = rows[c * length + x];
        }
    } else {
        for (int x = first; x < end; x++)
            for (int c = 0; c < here; c++)
                blocks[x * BLOCK + c] = rows[c * length + x];
    }
}

kernel void blocks_to_rows(global const WORD *restrict blocks, global WORD *restrict rows, const int batch,
                           const int channels, const int length, const int parts, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    const int first = item % parts * POSITIONS, image = item / parts % batch, block = item / parts / batch;
    const int here = min(BLOCK, channels - block * BLOCK), end = min(first + POSITIONS, length);
    rows += ((long)image * channels + block * BLOCK) * length;
    blocks += ((long)block * batch + image) * length * BLOCK;
#if SQUARES
    if (here == 16 && end - first == 16) {
        SQUARE values[16];
        #pragma unroll
        for (int x = 0; x < 16; x++)
            values[x] = vload16(first + x, blocks);
        transpose(values);
        #pragma unroll
        for (int c = 0; c < 16; c++)
            vstore16(values[c], 0, rows + c * length + first);
        return;
    }
#endif
    for (int c = 0; c < here; c++) {
        if (end - first == POSITIONS) {
            #pragma unroll
            for (int x = 0; x < POSITIONS; x++)
                rows[c * length + first + x] = blocks[(first + x) * BLOCK + c];
        } else {
            for (int x = first; x < end; x++)
                rows[c * length + x] = blocks[x * BLOCK + c];
        }
    }
}
