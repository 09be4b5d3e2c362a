// Linear attention (no softmax), as a recurrence over time. A work-item updates one column, [width] of
// [width][value_width], of the state of a head, and computes its element of the result for each query of the head.
//
// DATA is the type of queries, keys, values and gates, STATE that of states. The running state is DATA_VALUE.
//   query [batch][time][heads * members][width], key [batch][time][heads][width],
//   values [batch][time][heads][value_width], result [batch][time][heads * members][value_width].
// GATED 1: decay [batch][time][heads][decays], where decays is 1 or width.
// DELTA 1 (delta rule): beta [batch][time][betas], where betas is 1 or heads.
typedef DATA_VALUE number;

kernel void linear_attention(global const DATA *restrict query, global const DATA *restrict key,
                             global const DATA *restrict values, global const STATE *restrict state,
#if GATED
                             global const GATE *restrict decay,
#endif
#if DELTA
                             global const BETA *restrict beta,
#endif
                             global DATA *restrict result, global STATE *restrict new_state,
                             global number *restrict running, const int time, const int heads, const int members,
                             const int width, const int value_width, const int decays, const int betas,
                             const SCALE scale, const int count)
{
    const int item = get_global_id(0);
    if (item >= count) return;
    const int column = item % value_width, head = item / value_width % heads, batch = item / value_width / heads;
    const long first = (long)(item / value_width) * width * value_width + column;
    state += first;
    new_state += first;
    running += first;
    for (int i = 0; i < width; i++) running[i * value_width] = STATE_LOAD(state, i * value_width);
    for (int step = 0; step < time; step++) {
        const long token = (long)batch * time + step, token_head = token * heads + head;
        global const DATA *k = key + token_head * width;
        number new = DATA_LOAD(values, token_head * value_width + column);
#if GATED
        global const GATE *d = decay + token_head * decays;
        number factor = exp(GATE_LOAD(d, 0));
        for (int i = 0; i < width; i++) {
            if (decays > 1) factor = exp(GATE_LOAD(d, i));
            running[i * value_width] *= factor;
        }
#endif
#if DELTA
        number known = 0;
        for (int i = 0; i < width; i++) known += DATA_LOAD(k, i) * running[i * value_width];
        new = BETA_LOAD(beta, token * betas + (betas > 1 ? head : 0)) * (new - known);
#endif
        for (int i = 0; i < width; i++) running[i * value_width] += DATA_LOAD(k, i) * new;
        for (int member = 0; member < members; member++) {
            const long place = token_head * members + member;
            global const DATA *q = query + place * width;
            number sum = 0;
            for (int i = 0; i < width; i++) sum += DATA_LOAD(q, i) * running[i * value_width];
            DATA_STORE(sum * scale, place * value_width + column, result);
        }
    }
    for (int i = 0; i < width; i++) STATE_STORE(running[i * value_width], i * value_width, new_state);
}
