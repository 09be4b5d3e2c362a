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
