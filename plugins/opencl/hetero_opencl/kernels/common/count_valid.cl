// counts[row] = number of valid indices, those before the first negative one, in rows [rows][length].
kernel void count_valid(global const int *restrict indices, global COUNT *restrict counts, const int length,
                        const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    int valid = 0;
    while (valid < length && indices[item * length + valid] >= 0)
        valid++;
    counts[item] = valid;
}
