// Macros for kernels whose values are in channel blocks, [C/BLOCK][N][D][H][W][BLOCK] in memory. BLOCK: 8 or 16.
//
// EPILOGUE(v, at, channel): what is stored in place of a vector v of BLOCK results; `at` is the index of its first
// element in the output, `channel` its first channel. EPILOGUE_PARAMETERS: the further parameters of the kernel that it
// reads, with a leading comma. PROLOGUE(v, channel) and PROLOGUE_PARAMETERS: the same for vectors of the input, applied
// only inside the image: padding is not changed.
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
#ifndef PROLOGUE
#define PROLOGUE(v, channel) v
#define PROLOGUE_PARAMETERS
#endif
// Whether the window of position i of a tile is inside of the image along the row, whichever tile that is.
#define IS_INNER(i) ((i) >= EDGE && (i) < I - EDGE)
// The range of elements of a window along one axis that are in the image; `at` is the position of the first element.
inline int first_inside(const int at, const int dilation)
{
    return at < 0 ? (dilation - 1 - at) / dilation : 0;
}
inline int end_inside(const int at, const int dilation, const int length, const int kernel_size)
{
    return at < length ? min(kernel_size, (length - at + dilation - 1) / dilation) : 0;
}
