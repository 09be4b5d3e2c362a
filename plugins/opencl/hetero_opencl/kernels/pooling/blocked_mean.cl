// Mean over all positions of channel blocks (see channel_blocks.cl, which precedes this text). DATA, RESULT: element
// types; sums are float. A work-item computes one vector; 4 sums, because an addition takes several cycles.
// Global size: blocks times batches.
kernel void blocked_mean(global const DATA *restrict image, global RESULT *restrict out, const int positions,
                         const int batches EPILOGUE_PARAMETERS)
{
    const int plane = get_global_id(0), channel = plane / batches * BLOCK;
    image += (long)plane * positions * BLOCK;
    VECTOR sums[4] = {0, 0, 0, 0};
    int at = 0;
    for (; at + 4 <= positions; at += 4) {
        #pragma unroll
        for (int i = 0; i < 4; i++)
            sums[i] += LOAD_DATA(image + (at + i) * BLOCK);
    }
    for (; at < positions; at++)
        sums[0] += LOAD_DATA(image + at * BLOCK);
    const VECTOR mean = (sums[0] + sums[1] + (sums[2] + sums[3])) / (float)positions;
    STORE_RESULT(EPILOGUE(mean, (long)plane * BLOCK, channel), out + plane * BLOCK);
}
