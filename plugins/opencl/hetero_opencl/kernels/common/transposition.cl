// Transposition of 16 by 16 elements in registers. SQUARE is the type of a row: float16 or uint16.
#define LOW(a, b) (SQUARE)(a.s0, b.s0, a.s1, b.s1, a.s2, b.s2, a.s3, b.s3, \
                           a.s4, b.s4, a.s5, b.s5, a.s6, b.s6, a.s7, b.s7)
#define HIGH(a, b) (SQUARE)(a.s8, b.s8, a.s9, b.s9, a.sa, b.sa, a.sb, b.sb, \
                            a.sc, b.sc, a.sd, b.sd, a.se, b.se, a.sf, b.sf)

// Each round interleaves the upper half with the lower one, which rotates the eight bits of the position (row, column)
// by one.
static inline void transpose(SQUARE *x)
{
    #pragma unroll
    for (int round = 0; round < 4; round++) {
        SQUARE y[16];
        #pragma unroll
        for (int i = 0; i < 8; i++) {
            y[2 * i] = LOW(x[i], x[i + 8]);
            y[2 * i + 1] = HIGH(x[i], x[i + 8]);
        }
        #pragma unroll
        for (int i = 0; i < 16; i++) x[i] = y[i];
    }
}
