// Copy channels between values in channel blocks, [C/BLOCK][N][D][H][W][BLOCK] in memory. `places` are, for each
// channel, the offsets of its first element in source and target. A work-item copies up to PART positions of up to
// BLOCK channels.
kernel void move_channels(global const WORD *restrict source, global WORD *restrict target,
                          global const int *restrict places, const int channels, const int positions)
{
    const int first = get_global_id(0) * PART, end = min(first + PART, positions), channel = get_global_id(1) * BLOCK;
    for (int c = channel; c < min(channel + BLOCK, channels); c++) {
        global const WORD *from = source + places[2 * c];
        global WORD *to = target + places[2 * c + 1];
        for (int at = first; at < end; at++)
            to[(long)at * BLOCK] = from[(long)at * BLOCK];
    }
}
