// Elements taken from places that are known for each axis: target[o, i, j, …] = source[o * outer + a[i] + b[j] + …].
// Each axis, the last one first, has its length in axes, and where its places begin among the others.
kernel void gather_per_axis(global const WORD *restrict source, global WORD *restrict target,
                        global const int *restrict axes, global const int *restrict places, const int rank,
                        const int outer, const int inner, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    int rest = item / inner, from = item % inner;
    for (int axis = 0; axis < rank; axis++) {
        from += places[axes[2 * axis + 1] + rest % axes[2 * axis]];
        rest /= axes[2 * axis];
    }
    target[item] = source[rest * outer + from];
}
