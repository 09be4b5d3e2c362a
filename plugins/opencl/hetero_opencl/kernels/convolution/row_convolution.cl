// Convolution of images in rows, [N][C][height][width]. A work-item, alone in its work-group, computes a tile in
// registers: I output channels of R rows and J vectors of 16 positions along the width. Sums are written a * b + c (see
// gemm.cl).
//
// The rows of one channel that a tile needs are copied to a buffer that stays in the first-level cache, with zeros for
// what is outside. Each row has PHASES lines of LINE elements: element e is in line e % STRIDE at e / STRIDE, so that
// vectors hold the elements for neighbors in the output. DIRECT 1: the kernel has one column and reads nothing beside
// the rows; vectors are loaded from the image.
//
// LEFT, RIGHT, RESULT: the element types of filters, of images and of results; SUM: the C type of sums. Filters are
// [groups][tiles of I][C][kernel_y][kernel_x][I]. Elements read past the end of a row are never used; buffers have
// slack for these reads.

#if !DIRECT
// Copy the elements first … last - 1 of a row.
static inline void copy_row(global const RIGHT *from, local SUM *line, int first, const int last)
{
#if STRIDE == 1
    const int16 lanes = (int16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    for (; first < last; first += 16) {
        const SUM16 v = WIDEN_RIGHT(RIGHT_LOAD16(from + first));
        vstore16(lanes < last - first ? v : (SUM16)((SUM)0), 0, line + first);
    }
#else
#if STRIDE == 2
    const int16 lanes = (int16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    if (first % 2 && first < last) {
#if PHASES > 1
        line[LINE + first / 2] = RIGHT_LOAD(from, first);
#endif
        first++;
    }
    for (; first < last; first += 32) {
        SUM16 a = WIDEN_RIGHT(RIGHT_LOAD16(from + first)), b = WIDEN_RIGHT(RIGHT_LOAD16(from + first + 16));
        a = lanes < last - first ? a : (SUM16)((SUM)0);
        b = lanes < last - first - 16 ? b : (SUM16)((SUM)0);
        vstore16((SUM16)(a.even, b.even), 0, line + first / 2);
#if PHASES > 1
        vstore16((SUM16)(a.odd, b.odd), 0, line + LINE + first / 2);
#endif
    }
#else
    for (; first < last; first++)
        if (first % STRIDE < PHASES)
            line[first % STRIDE * LINE + first / STRIDE] = RIGHT_LOAD(from, first);
#endif
#endif
}
#endif

kernel void row_convolution(global const RIGHT *restrict image, global const LEFT *restrict filters,
                            global RESULT *restrict out, const int outputs, const int channels, const int height,
                            const int width, const int out_height, const int out_width, const int kernel_y,
                            const int kernel_x, const int stride_y, const int dilation_y, const int dilation_x,
                            const int pad_y, const int pad_x EPILOGUE_PARAMETERS)
{
    const int x = get_global_id(0) * (16 * J), left = x * STRIDE - pad_x;
    const int parts = (out_height + R - 1) / R, y = get_global_id(1) % parts * R, batch = get_global_id(1) / parts;
    const int tiles = (outputs + I - 1) / I, tile = get_global_id(2) % tiles, group = get_global_id(2) / tiles;
    const int groups = get_global_size(2) / tiles;
    const int top = y * stride_y - pad_y;
    // Of the rows that the tile needs, those that are inside of the image.
    const int begin = top < 0 ? (-top + dilation_y - 1) / dilation_y : 0;
    const int end = min(kernel_y + (R - 1) * stride_y, (height - top + dilation_y - 1) / dilation_y);
    image += ((long)batch * groups + group) * channels * height * width + (long)top * width + left;
    filters += (long)get_global_id(2) * channels * kernel_y * kernel_x * I;

    SUM16 acc[R][I][J];
    #pragma unroll
    for (int r = 0; r < R; r++)
        #pragma unroll
        for (int i = 0; i < I; i++)
            #pragma unroll
            for (int j = 0; j < J; j++)
                acc[r][i][j] = (SUM16)((SUM)0);
#if !DIRECT
    local SUM lines[LINES * LINE] __attribute__((aligned(64)));
    const int first = max(0, -left);
    const int last = min(width - left, (16 * J - 1) * STRIDE + (kernel_x - 1) * dilation_x + 1);
    for (int at = 0; at < LINES * LINE; at += 16)
        vstore16((SUM16)((SUM)0), 0, lines + at);
#endif
    for (int c = 0; c < channels; c++) {
#if !DIRECT
        for (int row = begin; row < end; row++)
            copy_row(image + (long)row * dilation_y * width, lines + row * PHASES * LINE, first, last);
#endif
        for (int row = begin; row < end; row++) {
            for (int kx = 0; kx < kernel_x; kx++) {
                SUM16 values[J];
#if DIRECT
                global const RIGHT *from = image + (long)row * dilation_y * width;
                #pragma unroll
                for (int j = 0; j < J; j++)
                    values[j] = WIDEN_RIGHT(RIGHT_LOAD16(from + 16 * j));
#else
                const int e = kx * dilation_x;
                local const SUM *from = lines + (row * PHASES + e % STRIDE) * LINE + e / STRIDE;
                #pragma unroll
                for (int j = 0; j < J; j++)
                    values[j] = vload16(j, from);
#endif
                #pragma unroll
                for (int r = 0; r < R; r++) {
                    const int ky = row - r * stride_y;
#if R > 1
                    if (ky >= 0 && ky < kernel_y)
#endif
                        #pragma unroll
                        for (int i = 0; i < I; i++) {
                            const SUM weight = LEFT_LOAD(filters, (ky * kernel_x + kx) * I + i);
                            #pragma unroll
                            for (int j = 0; j < J; j++)
                                acc[r][i][j] = weight * values[j] + acc[r][i][j];
                        }
                }
            }
        }
        filters += kernel_y * kernel_x * I;
        image += (long)height * width;
    }
    // Through memory, so that the epilogue is in the code once and it compiles faster.
    SUM16 results[R][I][J];
    #pragma unroll
    for (int r = 0; r < R; r++) {
        #pragma unroll
        for (int i = 0; i < I; i++) {
            #pragma unroll
            for (int j = 0; j < J; j++)
                results[r][i][j] = acc[r][i][j];
        }
    }
    #pragma nounroll
    for (int i = 0; i < min(I, outputs - tile * I); i++) {
        const int channel = group * outputs + tile * I + i;
        #pragma nounroll
        for (int r = 0; r < min(R, out_height - y); r++) {
            const int at = ((batch * groups * outputs + channel) * out_height + y + r) * out_width + x;
            #pragma nounroll
            for (int j = 0; j < J; j++) {
                const int count = out_width - x - 16 * j;
                if (count <= 0)
                    break;
                const SUM16 v = EPILOGUE(results[r][i][j], at + 16 * j, channel);
                if (count >= 16) {
                    RESULT_STORE16(NARROW(v), out + at + 16 * j);
                } else {
                    const SUM rest[16] = {v.s0, v.s1, v.s2, v.s3, v.s4, v.s5, v.s6, v.s7,
                                          v.s8, v.s9, v.sa, v.sb, v.sc, v.sd, v.se, v.sf};
                    for (int n = 0; n < count; n++)
                        RESULT_STORE(rest[n], at + 16 * j + n, out);
                }
            }
        }
    }
}
