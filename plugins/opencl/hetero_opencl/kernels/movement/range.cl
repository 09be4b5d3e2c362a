// Numbers in equal steps from `start` on.
kernel void range(global DATA *restrict out, const int start, const int step, const int count)
{
    const int item = get_global_id(0);
    if (item < count)
        DATA_STORE((DATA_VALUE)(start + (long)item * step), item, out);
}
