// Uniform numbers in [low, high) by the Mersenne Twister MT19937, as PyTorch draws them: M. Matsumoto and T.
// Nishimura, "Mersenne Twister", ACM Transactions on Modeling and Computer Simulation, 1998. `state` is its 624
// words, the number of those that are used up, and a lock, as all requests share it. BITS random bits make a
// fraction; with 0 the numbers are integers.

// Words per number: two for f64, and for integers if the range exceeds 32 bits.
int words_per_number(const DATA_VALUE low, const DATA_VALUE high)
{
    return BITS == 53 || (!BITS && (ulong)high - (ulong)low > 1UL << 32) ? 2 : 1;
}

// Generate all words sequentially, in one work-item.
kernel void make_words(global uint *restrict state, global const DATA *restrict low, global const DATA *restrict high,
                       global uint *restrict words, const int length, const int count)
{
    if (get_global_id(0) >= count)
        return;
    const int needed = length * words_per_number(DATA_LOAD(low, 0), DATA_LOAD(high, 0));
    while (atomic_cmpxchg(state + 625, 0u, 1u))
        ;
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    uint used = state[624];
    for (int word = 0; word < needed; word++) {
        if (used >= 624) {
            for (int i = 0; i < 624; i++) {
                const uint joined = (state[i] & 0x80000000u) | (state[(i + 1) % 624] & 0x7fffffffu);
                state[i] = state[(i + 397) % 624] ^ (joined >> 1) ^ (joined & 1 ? 0x9908b0dfu : 0);
            }
            used = 0;
        }
        uint bits = state[used++];
        bits ^= bits >> 11;
        bits ^= bits << 7 & 0x9d2c5680u;
        bits ^= bits << 15 & 0xefc60000u;
        words[word] = bits ^ bits >> 18;
    }
    state[624] = used;
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    atomic_xchg(state + 625, 0u);
}

kernel void make_numbers(global const uint *restrict words, global const DATA *restrict low,
                         global const DATA *restrict high, global DATA *restrict target, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    const DATA_VALUE from = DATA_LOAD(low, 0), to = DATA_LOAD(high, 0);
    const bool is_pair = words_per_number(from, to) == 2;
    const ulong bits = is_pair ? (ulong)words[2 * item] << 32 | words[2 * item + 1] : words[item];
#if BITS
    const REAL unit = (REAL)(bits & ((1UL << BITS) - 1)) / (REAL)(1UL << BITS);
    DATA_STORE((DATA_VALUE)(unit * ((REAL)to - (REAL)from) + (REAL)from), item, target);
#else
    const ulong range = (ulong)to - (ulong)from;
    DATA_STORE((DATA_VALUE)(range ? bits % range : 0) + from, item, target);
#endif
}
