// One step of a recurrent network, for all sequences and directions. One work-item per hidden unit.
//
// DATA is the element type of inputs and outputs:
//   recurrent weights [directions, GATES * hidden, hidden], biases [directions, BIASES * hidden],
//   last states [N, directions, hidden], outputs of all steps [N, directions, time, hidden].
// DATA_VALUE is the type of the states between steps and of `projected`, the inputs times W:
//   [directions, N, time, GATES * hidden].
// KIND: RNN, GRU (linear_before_reset), RESET_FIRST (a GRU that applies the reset gate before the gemm, in two
// launches)
//   or LSTM.
// GATE(x), CANDIDATE(x), CELL_ACTIVATION(x): the activations.
// SEQUENCE 1: there are lengths [N] of type INDEX, and an output that is 0 after the end of a sequence. The last states
//   of an empty sequence are 0. Directions from first_reverse on run backwards.
// LSTM only: AT_F, AT_I, AT_C, AT_O: indices of the gates. PEEPHOLES 1: the gates i, o and f have weights for the cell
//   state. COUPLED 1: f is 1 - i.

#define RNN 0
#define GRU 1
#define RESET_FIRST 2
#define LSTM 3

typedef DATA_VALUE value;
typedef DATA_VALUE16 value16;

static inline value clamped(const value x, const value low, const value high)
{
    return x < low ? low : x > high ? high : x;
}

static inline value sigmoid(const value x)
{
    return 1 / (1 + exp(-x));
}

// Dot product of a row of weights and the states of one sequence.
static inline value dot_product(global const DATA *row, global const value *states, const int hidden)
{
    value16 sums = 0;
    int k = 0;
    for (; k + 16 <= hidden; k += 16) sums = sums + DATA_LOAD16(row + k) * vload16(0, states + k);
    value sum = ((sums.s0 + sums.s8) + (sums.s1 + sums.s9)) + ((sums.s2 + sums.sa) + (sums.s3 + sums.sb));
    sum += ((sums.s4 + sums.sc) + (sums.s5 + sums.sd)) + ((sums.s6 + sums.se) + (sums.s7 + sums.sf));
    for (; k < hidden; k++) sum += DATA_LOAD(row, k) * states[k];
    return sum;
}

// First and last parameters of both kernels, and the position of a work-item: unit, sequence, direction and time.
#define FIRST_PARAMETERS \
    global const value *restrict projected, global const DATA *restrict recurrent, global const DATA *restrict biases, \
    global const value *restrict before
#define SIZES \
    const int step, const int times, const int hidden, const int directions, const int first_reverse, const int count
#define FIND_UNIT                                                           \
    const int item = get_global_id(0);                                      \
    if (item >= count) return;                                              \
    const int unit = item % hidden, sequence = item / hidden;               \
    const int direction = sequence % directions, n = sequence / directions; \
    const int time = direction >= first_reverse ? times - 1 - step : step;  \
    projected += ((direction * (long)(count / hidden / directions) + n) * times + time) * GATES * hidden + unit;

// Terms of a gate: bias, input with bias, and recurrent term.
#define BIAS(gate) DATA_LOAD(biases, (direction * BIASES + (gate)) * hidden + unit)
#define INPUT(gate) (projected[(gate) * hidden] + BIAS(gate))
#define ROW(gate) (recurrent + ((direction * GATES + (gate)) * (long)hidden + unit) * hidden)
#define RECURRENT(gate, states) dot_product(ROW(gate), (states) + sequence * (long)hidden, hidden)

#if KIND == RESET_FIRST
// The update gate, and the states multiplied by the reset gate.
kernel void reset_states(FIRST_PARAMETERS, global value *restrict updates, global value *restrict resets, SIZES)
{
    FIND_UNIT
    if (step >= times) return;
    const value update = INPUT(0) + RECURRENT(0, before), reset = INPUT(1) + RECURRENT(1, before);
    updates[item] = GATE(update);
    resets[item] = GATE(reset) * before[item];
}
#endif

kernel void next_states(FIRST_PARAMETERS,
#if KIND == RESET_FIRST
                        global const value *restrict updates, global const value *restrict resets,
#endif
                        global value *restrict after, global DATA *restrict last,
#if KIND == LSTM
                        global const value *restrict cells_before, global value *restrict cells_after,
                        global DATA *restrict last_cells,
#endif
#if PEEPHOLES
                        global const DATA *restrict peepholes,
#endif
#if SEQUENCE
                        global const INDEX *restrict lengths, global DATA *restrict output,
#endif
                        SIZES)
{
    FIND_UNIT
    value state = before[item];
#if KIND == LSTM
    value cell = cells_before[item];
#endif
#if SEQUENCE
    const long length = INDEX_LOAD(lengths, n);
    const bool is_active = step < times && time < length;
    if (length == 0) {
        state = 0;
#if KIND == LSTM
        cell = 0;
#endif
    }
    if (is_active)
#endif
    {
#if KIND == RNN
        const value sum = INPUT(0) + RECURRENT(0, before);
        state = GATE(sum);
#elif KIND == GRU
        const value sum = INPUT(0) + RECURRENT(0, before), reset_sum = INPUT(1) + RECURRENT(1, before);
        const value update = GATE(sum), reset = GATE(reset_sum);
        const value new_sum = INPUT(2) + reset * (RECURRENT(2, before) + BIAS(3));
        const value new = CANDIDATE(new_sum);
        state = new + update * (state - new);
#elif KIND == RESET_FIRST
        const value new_sum = INPUT(2) + RECURRENT(2, resets);
        const value new = CANDIDATE(new_sum);
        state = new + updates[item] * (state - new);
#else
        value i_sum = INPUT(AT_I) + RECURRENT(AT_I, before), o_sum = INPUT(AT_O) + RECURRENT(AT_O, before);
        const value c_sum = INPUT(AT_C) + RECURRENT(AT_C, before);
#if PEEPHOLES
        peepholes += direction * 3 * hidden + unit;
        i_sum += DATA_LOAD(peepholes, 0) * cell;
#endif
        const value i = GATE(i_sum);
#if COUPLED
        const value f = 1 - i;
#else
        value f_sum = INPUT(AT_F) + RECURRENT(AT_F, before);
#if PEEPHOLES
        f_sum += DATA_LOAD(peepholes, 2 * hidden) * cell;
#endif
        const value f = GATE(f_sum);
#endif
        cell = f * cell + i * CANDIDATE(c_sum);
#if PEEPHOLES
        o_sum += DATA_LOAD(peepholes, hidden) * cell;
#endif
        state = GATE(o_sum) * CELL_ACTIVATION(cell);
#endif
    }
    after[item] = state;
    DATA_STORE(state, item, last);
#if KIND == LSTM
    cells_after[item] = cell;
    DATA_STORE(cell, item, last_cells);
#endif
#if SEQUENCE
    if (step < times) DATA_STORE(is_active ? state : 0, ((long)sequence * times + time) * hidden + unit, output);
#endif
}

// Convert elements to the type of computation.
kernel void to_compute_type(global const DATA *restrict from, global value *restrict to, const int count)
{
    const int i = get_global_id(0);
    if (i < count) to[i] = DATA_LOAD(from, i);
}
