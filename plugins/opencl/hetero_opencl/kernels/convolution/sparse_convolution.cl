// 1×1 convolution of channel blocks (see channel_blocks.cl, which precedes this text) that skips zeros. A work-item
// computes, for a range of the tiles, I positions along the row by J vectors of BLOCK output channels in registers.
//
// `ends`: for each tile of outputs, where its input channels end in `channels`.
// For each of these, `filters` has J * BLOCK factors. STRIDE: stride along the row. out_width is at least I.
// Written a * b + c, not mad() or fma(), because PoCL compiles these to slow calls.
kernel void sparse_convolution(global const float *restrict image, global const float *restrict filters,
                               global const int *restrict channels, global const int *restrict ends,
                               global float *restrict out, const int tiles, const int blocks, const int height,
                               const int width, const int out_height, const int out_width, const int stride_y,
                               const int batches EPILOGUE_PARAMETERS)
{
    const int parts = (out_width + I - 1) / I;
    const long items = (long)parts * out_height * batches * tiles;
    const long end = items * (get_global_id(0) + 1) / get_global_size(0);
    for (long item = items * get_global_id(0) / get_global_size(0); item < end; item++) {
        const int tile = item % tiles, part = item / tiles % parts, row = item / tiles / parts;
        const int y = row % out_height, batch = row / out_height;
        const int x = min(part * I, out_width - I), skipped = part * I - x;
        global const float *values = image + (((long)batch * height + y * stride_y) * width + x * STRIDE) * BLOCK;
        const int first = tile ? ends[tile - 1] : 0, count = ends[tile] - first;
        global const int *read = channels + first;
        const long block_size = (long)batches * height * width * BLOCK;
        global const float *factors = filters + (long)first * (J * BLOCK);

        VECTOR sums[I][J];
        EACH_OF_TILE(sums[i][j] = 0)
        for (int c = 0; c < count; c++) {
            global const float *value = values + read[c] / BLOCK * block_size + read[c] % BLOCK;
            VECTOR w[J];
            #pragma unroll
            for (int j = 0; j < J; j++)
                w[j] = LOAD_FILTER(factors + j * BLOCK);
            #pragma unroll
            for (int i = 0; i < I; i++) {
                #pragma unroll
                for (int j = 0; j < J; j++)
                    sums[i][j] = value[i * STRIDE * BLOCK] * w[j] + sums[i][j];
            }
            factors += J * BLOCK;
        }

        // Through memory, so that the epilogue is in the code once and it compiles faster.
        VECTOR results[J][I];
        EACH_OF_TILE(results[j][i] = sums[i][j])
        #pragma nounroll
        for (int j = 0; j < min(J, blocks - tile * J); j++) {
            const int block = tile * J + j;
            #pragma nounroll
            for (int i = skipped; i < I; i++) {
                const long at = ((((long)block * batches + batch) * out_height + y) * out_width + x + i) * BLOCK;
                STORE_RESULT(EPILOGUE(results[j][i], at, block * BLOCK), out + at);
            }
        }
    }
}
