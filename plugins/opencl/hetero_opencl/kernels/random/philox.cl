// Uniform numbers in [low, high) by Philox 4x32-10, as TensorFlow draws them: J. Salmon et al., "Parallel random
// numbers: as easy as 1, 2, 3", SC 2011. KIND says how random bits become a number: 2, 4, 8: the mantissa of an f16, an
// f32 (also for bf16) or an f64; 0: an integer.
#pragma OPENCL FP_CONTRACT OFF

// Reserve the counters for a number of generator calls. The first one goes to `start`, as low and high word. `next` is
// shared by all requests: its third word locks it.
kernel void take_counters(global volatile uint *restrict next, global uint *restrict start, const uint calls,
                          const int count)
{
    if (get_global_id(0) >= count)
        return;
    while (atomic_cmpxchg(next + 2, 0u, 1u))
        ;
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    start[0] = next[0];
    start[1] = next[1];
    next[0] = start[0] + calls;
    next[1] = start[1] + (start[0] + calls < start[0]);
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    atomic_xchg(next + 2, 0u);
}

// Round to f16.
float rounded(const float x)
{
    ushort bits;
    vstore_half_rte(x, 0, (half *)&bits);
    return vload_half(0, (half *)&bits);
}

DATA_VALUE number_of(const uint first, const uint second, const DATA_VALUE low, const DATA_VALUE high)
{
#if KIND == 2
    ushort bits = (first & 1023) | 15 << 10;
    const float unit = vload_half(0, (half *)&bits) - 1;
    return rounded(unit * rounded(high - low)) + low;
#elif KIND == 4
    return (as_float((first & 0x7fffff) | 0x3f800000) - 1) * (high - low) + low;
#elif KIND == 8
    const ulong bits = ((ulong)first << 32 | second) & 0xfffffffffffff;
    return (as_double(bits | 0x3ff0000000000000) - 1) * (high - low) + low;
#else
    const ulong range = (ulong)high - (ulong)low, bits = sizeof(DATA) == 8 ? (ulong)second << 32 | first : first;
    return (DATA_VALUE)(range ? bits % range : 0) + low;
#endif
}

// A work-item computes four random words, which make four numbers, or two of 64 bits.
kernel void philox(global const uint *restrict start, global const DATA *restrict low, global const DATA *restrict high,
                   global DATA *restrict target, const uint key_low, const uint key_high, const uint stream_low,
                   const uint stream_high, const int length, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    const ulong counter = ((ulong)start[1] << 32 | start[0]) + item;
    uint a = (uint)counter, b = (uint)(counter >> 32), c = stream_low, d = stream_high;
    uint first = key_low, second = key_high;
    for (int round = 0; round < 10; round++) {
        const uint one = mul_hi(a, 0xd2511f53u), two = mul_hi(c, 0xcd9e8d57u);
        const uint new_b = c * 0xcd9e8d57u, new_d = a * 0xd2511f53u;
        a = two ^ b ^ first;
        c = one ^ d ^ second;
        b = new_b;
        d = new_d;
        first += 0x9e3779b9u;
        second += 0xbb67ae85u;
    }
    const uint words[4] = {a, b, c, d};
    const int each = sizeof(DATA) == 8 ? 2 : 1;
    for (int word = 0; word < 4; word += each) {
        const int place = (item * 4 + word) / each;
        const DATA_VALUE number = number_of(words[word], words[word + each - 1], DATA_LOAD(low, 0), DATA_LOAD(high, 0));
        if (place < length)
            DATA_STORE(number, place, target);
    }
}
