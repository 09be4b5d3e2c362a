// taken[row, i] = keys[row, order[row, i]] for keys [rows][length] of type KEY.
kernel void take_along_axis(global const KEY *restrict keys, global const int *restrict order,
                            global KEY *restrict taken, const int length, const int count)
{
    const int item = get_global_id(0);
    if (item < count)
        taken[item] = keys[item / length * length + order[item]];
}
