// Convolution of channel blocks (see channel_blocks.cl, which precedes this text) on processors with vector registers.
//
// A work-item computes a tile in registers: I positions along the row by J vectors of BLOCK output channels, so that
// each vector of filters is used I times and each element of the input J * BLOCK times. Sums are written a * b + c, as
// mad() and fma() may be calls on PoCL. The last tile of a row begins earlier, so that it ends with the row, and does
// not store what the tile before it stores. I must not exceed out_width.
//
// Filters are packed as [group][tile][C/IN_BLOCK][kz][ky][kx][IN_BLOCK][J * BLOCK], zeros for output channels that do
// not exist (pack_filters in blocked_convolution.py): a work-item reads them from beginning to end.
//
// For each channel block and row of the kernel, the vectors of the input that the tile needs are copied to `line`, with
// zeros outside of the image, so that the loop over kx and channels is the same at borders. DIRECT 1: no copy; only
// without padding along the row, for DATA float. A kernel of one element with stride 1 may take
// all positions of a batch as one row: depth and height 1, width N * D * H * W.
//
// POINT 1: the kernel has one element, without padding, and the input is DIRECT. The loop over channel blocks is then
// the only one: with those over the kernel, a block of 8 channels takes up to 1.7 times as long, because its
// arithmetic takes no longer than the addresses and the ends of these loops. WHOLE 1: input channels are a multiple
// of IN_BLOCK.
//
// I, J: size of the tile. STRIDE: stride along the row. LINE: length of the copy in positions, at least
// (I - 1) * STRIDE + (kernel_x - 1) * dilation_x + 1, a multiple of 16. IN_BLOCK: BLOCK, or 1 for an input
// [N][C][D][H][W]. DATA, FILTER, RESULT: element types of input, filters and output; sums are
// float.
//
// channels: input channels of a group; blocks: output channel blocks of a group. If there are several groups, the
// channels of a group must be a multiple of IN_BLOCK in the input and of BLOCK in the output. in_block, in_batch,
// out_block, out_batch: elements from one channel block (channel if IN_BLOCK is 1) or batch to the next.
//
// rows: out_depth * out_height of all batches.
//
// Global size: [tiles of all rows, tiles of filters of all groups], in work-groups of one work-item, or with LOOP 1
// [any number, tiles of filters]: a work-item then computes its share of the tiles one after the other. That is faster
// on Intel's runtime, whose work-groups cost 35 ns each, and for DIRECT 1; with a copy, PoCL's compiler then moves sums
// between registers and the stack. Runtimes go through the last dimension slowest, so that a tile of filters stays in
// the L2 cache.
// The channels of a block.
#if WHOLE
#define COUNT(block) IN_BLOCK
#else
#define COUNT(block) min(channels - block * IN_BLOCK, IN_BLOCK)
#endif
// Add the products of `count` channels of the input, the first at `values`, and of filters from `step` on.
#define ADD_CHANNELS(values)                                              \
    for (int c = 0; c < count; c++) {                                     \
        VECTOR factors[J];                                                \
        _Pragma("unroll")                                                 \
        for (int j = 0; j < J; j++)                                       \
            factors[j] = LOAD_FILTER(step + j * BLOCK);                   \
        _Pragma("unroll")                                                 \
        for (int i = 0; i < I; i++) {                                     \
            const float value = values[i * STRIDE * IN_BLOCK + c];        \
            _Pragma("unroll")                                             \
            for (int j = 0; j < J; j++)                                   \
                sums[i][j] = value * factors[j] + sums[i][j];             \
        }                                                                 \
        step += BLOCK * J;                                                \
    }

kernel void blocked_convolution(global const DATA *restrict image, global const FILTER *restrict filters,
                                global RESULT *restrict out, WINDOW_PARAMETERS,
                                const int channels, const int blocks, const int in_block, const int in_batch,
                                const int out_block, const int out_batch, const int rows EPILOGUE_PARAMETERS)
{
    const int tiles = (blocks + J - 1) / J, group = get_global_id(1) / tiles, tile = get_global_id(1) % tiles;
    const int in_blocks = (channels + IN_BLOCK - 1) / IN_BLOCK;
    image += (long)group * in_blocks * in_block;
    filters += get_global_id(1) * channels * kernel_z * kernel_y * kernel_x * (BLOCK * J);
#if !DIRECT
    local float line[LINE * IN_BLOCK] __attribute__((aligned(64)));
    const int used = (I - 1) * STRIDE + (kernel_x - 1) * dilation_x + 1;
#endif
    const int row_tiles = (out_width + I - 1) / I;
#if LOOP
    const long count_tiles = (long)rows * row_tiles;
    const int end = count_tiles * (get_global_id(0) + 1) / get_global_size(0);
    for (int item = count_tiles * get_global_id(0) / get_global_size(0); item < end; item++)
#else
    const int item = get_global_id(0);
#endif
    {
        const int row = item / row_tiles, y = row % out_height, z = row / out_height % out_depth;
        const int batch = row / out_height / out_depth;
        const int place = item % row_tiles * I, x = min(place, out_width - I), skipped = place - x;
        VECTOR sums[I][J];
        EACH_OF_TILE(sums[i][j] = 0)

        global const DATA *plane = image + (long)batch * in_batch;
        global const FILTER *step = filters;
#if POINT
        plane += (((long)z * stride_z * height + y * stride_y) * width + x * STRIDE) * IN_BLOCK;
        for (int block = 0; block < in_blocks; block++) {
            const int count = COUNT(block);
            ADD_CHANNELS(plane)
            plane += in_block;
        }
#else
        const int front = z * stride_z - pad_z, top = y * stride_y - pad_y, left = x * STRIDE - pad_x;
        const int first_z = first_inside(front, dilation_z), end_z = end_inside(front, dilation_z, depth, kernel_z);
        const int first_y = first_inside(top, dilation_y), end_y = end_inside(top, dilation_y, height, kernel_y);
        global const FILTER *packed = filters;
        for (int block = 0; block < in_blocks; block++) {
            const int count = COUNT(block);
            for (int kz = first_z; kz < end_z; kz++) {
                for (int ky = first_y; ky < end_y; ky++) {
                    const int in_z = front + kz * dilation_z, in_y = top + ky * dilation_y;
                    global const DATA *start = plane + (((long)in_z * height + in_y) * width + left) * IN_BLOCK;
                    step = packed + (kz * kernel_y + ky) * kernel_x * count * (BLOCK * J);
#if DIRECT
                    global const float *values = start;
#else
                    local const float *values = line;
#if IN_BLOCK == 1
                    for (int at = 0; at < used; at += 16) {
                        if (left + at >= 0 && left + at + 16 <= width) {
                            vstore16(DATA_LOAD16(start + at), 0, line + at);
                        } else {
                            for (int lane = at; lane < at + 16; lane++)
                                line[lane] = left + lane >= 0 && left + lane < width ? DATA_LOAD(start, lane) : 0;
                        }
                    }
#else
                    for (int at = 0; at < used; at++) {
                        VECTOR value = 0;
                        if (left + at >= 0 && left + at < width)
                            value = LOAD_DATA(start + at * BLOCK);
                        JOIN(vstore, BLOCK)(value, at, line);
                    }
#endif
#endif
                    for (int kx = 0; kx < kernel_x; kx++) {
                        ADD_CHANNELS(values)
                        values += dilation_x * IN_BLOCK;
                    }
                }
            }
            plane += in_block;
            packed += IN_BLOCK * kernel_z * kernel_y * kernel_x * (BLOCK * J);
        }
#endif

        const long first = (long)batch * out_batch + (((long)z * out_height + y) * out_width + x) * BLOCK;
        // Through memory, so that the epilogue is in the code once: three times faster to compile.
        VECTOR results[J][I];
        EACH_OF_TILE(results[j][i] = sums[i][j])
        #pragma nounroll
        for (int j = 0; j < min(J, blocks - tile * J); j++) {
            const int block = group * blocks + tile * J + j;
            #pragma nounroll
            for (int i = skipped; i < I; i++) {
                const long at = first + (long)block * out_block + i * BLOCK;
                STORE_RESULT(EPILOGUE(results[j][i], at, block * BLOCK), out + at);
            }
        }
    }
}
