// Element-wise operations on blocks of channels [blocks][length][BLOCK]: the epilogue (see epilogue.py) computes each
// vector. A work-item computes up to POSITIONS vectors of one block, so that what all positions share is read once.
#define PASTE(a, b) a##b
#define JOIN(a, b) PASTE(a, b)

kernel void vector_elementwise(global RESULT *restrict out, const int length, const int parts,
                               const int count EPILOGUE_PARAMETERS)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    const int block = item / parts, first = item % parts * POSITIONS, end = min(first + POSITIONS, length);
    for (int x = first; x < end; x++) {
        const int at = (block * length + x) * BLOCK;
        JOIN(RESULT_STORE, BLOCK)(EPILOGUE((JOIN(RESULT_VALUE, BLOCK))(0), at, block * BLOCK), out + at);
    }
}
