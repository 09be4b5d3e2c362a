// Macros for kernels whose values are in channel blocks, [C/BLOCK][N][D][H][W][BLOCK] in memory. BLOCK: 8 or 16.
//
// EPILOGUE(v, at, channel): what is stored in place of a vector v of BLOCK results; `at` is the index of its first
// element in the output, `channel` its first channel. EPILOGUE_PARAMETERS: the further parameters of the kernel that it
// reads, with a leading comma.
#define PASTE(a, b) a##b
#define JOIN(a, b) PASTE(a, b)
#define VECTOR JOIN(float, BLOCK)
#define INTEGERS JOIN(int, BLOCK)
#define LOAD_FILTER JOIN(FILTER_LOAD, BLOCK)
#define LOAD_DATA JOIN(DATA_LOAD, BLOCK)
#define STORE_RESULT JOIN(RESULT_STORE, BLOCK)
#ifndef EPILOGUE
#define EPILOGUE(v, at, channel) v
#define EPILOGUE_PARAMETERS
#endif
// A statement for each vector of a tile of I positions by J vectors.
#define EACH_OF_TILE(statement)           \
    _Pragma("unroll")                     \
    for (int i = 0; i < I; i++) {         \
        _Pragma("unroll")                 \
        for (int j = 0; j < J; j++)       \
            statement;                    \
    }
// The lengths that describe a sliding window, in the order of BlockedWindow.numbers() in blocked_windows.py.
#define WINDOW_PARAMETERS                                                                        \
    const int depth, const int height, const int width,                                          \
    const int out_depth, const int out_height, const int out_width,                              \
    const int kernel_z, const int kernel_y, const int kernel_x,                                  \
    const int stride_z, const int stride_y,                                                      \
    const int dilation_z, const int dilation_y, const int dilation_x,                            \
    const int pad_z, const int pad_y, const int pad_x
// Whether the window of position i of a tile is inside of the image along the row, whichever tile that is.
#define IS_INNER(i) ((i) >= EDGE && (i) < I - EDGE)
// The range of elements of a window along one axis that are in the image; `at` is the position of the first element.
static inline int first_inside(const int at, const int dilation)
{
    return at < 0 ? (dilation - 1 - at) / dilation : 0;
}
static inline int end_inside(const int at, const int dilation, const int length, const int kernel_size)
{
    return at < length ? min(kernel_size, (length - at + dilation - 1) / dilation) : 0;
}
