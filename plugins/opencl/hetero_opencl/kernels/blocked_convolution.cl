#define PASTE(a, b) a##b
#define JOIN(a, b) PASTE(a, b)
#define VECTOR JOIN(float, BLOCK)
#define LOAD_FILTER JOIN(FILTER_LOAD, BLOCK)
#define LOAD_DATA JOIN(DATA_LOAD, BLOCK)
#define STORE_RESULT JOIN(RESULT_STORE, BLOCK)
#ifndef EPILOGUE
#define EPILOGUE(v, at, channel) v
#define EPILOGUE_PARAMETERS
#endif
#ifndef PROLOGUE
#define PROLOGUE(v, channel) v
#define PROLOGUE_PARAMETERS
#endif
#ifdef KERNEL_X
#define kernel_x KERNEL_X
#endif
#ifndef KX
#define KX 3
#endif

kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void blocked_convolution(global const DATA *restrict image, global const FILTER *restrict filters,
                         global RESULT *restrict out, const int channels, const int height, const int width,
                         const int out_height, const int out_width, const int kernel_y,
                         const int kernel_width, const int stride_y, const int dilation_y, const int dilation_x,
                         const int pad_y, const int pad_x, const int in_block, const int in_batch,
                         const int out_block, const int out_batch, const int blocks EPILOGUE_PARAMETERS
                         PROLOGUE_PARAMETERS)
{
#ifndef kernel_x
    const int kernel_x = kernel_width;
#endif
    const int x = min((int)get_global_id(0) * I, out_width - I), skipped = get_global_id(0) * I - x;
    const int row = get_global_id(1), y = row % out_height, batch = row / out_height;
    const int tiles = (blocks + J - 1) / J;
    const int group = get_global_id(2) / tiles, tile = get_global_id(2) % tiles;
    const int top = y * stride_y - pad_y, left = x * STRIDE - pad_x;
    const int in_blocks = (channels + IN_BLOCK - 1) / IN_BLOCK;
    image += (long)batch * in_batch + (long)group * in_blocks * in_block;
    filters += (long)get_global_id(2) * channels * kernel_y * kernel_x * (BLOCK * J);

    VECTOR acc[I][J];
    #pragma unroll
    for (int i = 0; i < I; i++)
        #pragma unroll
        for (int j = 0; j < J; j++)
            acc[i][j] = 0;
#if !DIRECT
    local float line[LINE * IN_BLOCK] __attribute__((aligned(64)));
    const int used = (I - 1) * STRIDE + (kernel_x - 1) * dilation_x + 1;
#endif
    for (int block = 0; block < in_blocks; block++) {
        const int count = min(channels - block * IN_BLOCK, IN_BLOCK);
        for (int ky = 0; ky < kernel_y; ky++) {
            const int in_y = top + ky * dilation_y;
            if (in_y < 0 || in_y >= height) {
                filters += kernel_x * count * (BLOCK * J);
                continue;
            }
            global const DATA *start = image + ((long)in_y * width + left) * IN_BLOCK;
#if DIRECT
            global const float *values = start;
#else
#if IN_BLOCK == 1
            for (int at = 0; at < used; at += 16) {
                if (left + at >= 0 && left + at + 16 <= width)
                    vstore16(DATA_LOAD16(start + at), 0, line + at);
                else
                    for (int lane = at; lane < at + 16; lane++)
                        line[lane] = left + lane >= 0 && left + lane < width ? DATA_LOAD(start, lane) : 0;
            }
#else
            for (int at = 0; at < used; at++) {
                VECTOR v = 0;
                if (left + at >= 0 && left + at < width)
                    v = PROLOGUE(LOAD_DATA(start + at * BLOCK), block * BLOCK);
                JOIN(vstore, BLOCK)(v, at, line);
            }
#endif
            local const float *values = line;
#endif
            for (int kx = 0; kx < kernel_x; kx++) {
#if IN_BLOCK > 1
                for (int c = 0; c < count; c++)
#else
                const int c = 0;
#endif
                {
                    VECTOR w[J];
                    #pragma unroll
                    for (int j = 0; j < J; j++)
                        w[j] = LOAD_FILTER(filters + j * BLOCK);
                    #pragma unroll
                    for (int i = 0; i < I; i++) {
                        const float value = values[i * STRIDE * IN_BLOCK + c];
                        #pragma unroll
                        for (int j = 0; j < J; j++)
                            acc[i][j] = value * w[j] + acc[i][j];
                    }
                    filters += BLOCK * J;
                }
                values += dilation_x * IN_BLOCK;
            }
        }
        image += in_block;
    }
    const long place = (long)batch * out_batch + ((long)y * out_width + x) * BLOCK;
    #pragma unroll
    for (int j = 0; j < J; j++) {
        const int block = group * blocks + tile * J + j, channel = block * BLOCK;
        if (tile * J + j < blocks)
            #pragma unroll
            for (int i = 0; i < I; i++) {
                const long at = place + (long)block * out_block + i * BLOCK;
                if (i >= skipped)
                    STORE_RESULT(EPILOGUE(acc[i][j], at, channel), out + at);
            }
    }
}
