// Keys [rows][length] in an order of each row. KEY is the element type.
kernel void take_along_axis(global const KEY *restrict keys, global const int *restrict order, global KEY *restrict taken,
                    const int length, const int count)
{
    const int item = get_global_id(0);
    if (item < count)
        taken[item] = keys[item / length * length + order[item]];
}
