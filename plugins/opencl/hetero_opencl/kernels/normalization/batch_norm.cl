// (x - mean) / sqrt(variance + epsilon) * gamma + beta per channel of data [outer][channels][inner].
kernel void batch_norm(global const DATA *restrict data, global const DATA *restrict gamma,
                       global const DATA *restrict beta, global const DATA *restrict mean,
                       global const DATA *restrict variance, global DATA *restrict out, const int channels,
                       const int inner, const DATA_VALUE epsilon, const int count)
{
    const int i = get_global_id(0);
    if (i >= count)
        return;
    const int c = i / inner % channels;
    const DATA_VALUE scale = DATA_LOAD(gamma, c) / sqrt(DATA_LOAD(variance, c) + epsilon);
    const DATA_VALUE result = (DATA_LOAD(data, i) - DATA_LOAD(mean, c)) * scale + DATA_LOAD(beta, c);
    DATA_STORE(result, i, out);
}
