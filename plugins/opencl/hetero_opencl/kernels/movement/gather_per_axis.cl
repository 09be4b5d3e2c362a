// target[o, i, j, …] = source[o * outer + a[i] + b[j] + …]: a gather with independent indices for each axis. `axes`
// holds for each axis, the last one first, its length and where its offsets begin in `offsets`.
kernel void gather_per_axis(global const WORD *restrict source, global WORD *restrict target,
                            global const int *restrict axes, global const int *restrict offsets, const int rank,
                            const int outer, const int inner, const int count)
{
    const int item = get_global_id(0);
    // A child process builds this by running it on zeros: without lengths it would read past the end of the source.
    if (item >= count || axes[0] == 0)
        return;
    int rest = item / inner, from = item % inner;
    for (int axis = 0; axis < rank; axis++) {
        from += offsets[axes[2 * axis + 1] + rest % axes[2 * axis]];
        rest /= axes[2 * axis];
    }
    target[item] = source[rest * outer + from];
}
