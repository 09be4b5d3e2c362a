// Sums of data [outer][length][inner] up to each element of the middle axis, or of what else COMBINE makes of two; with
// ``exclusive`` up to the one before, with ``reverse`` from the other end. The axis is cut into parts of ``part``
// elements in the order of the running sum, and a work-item takes one. What the parts are combined to, SUM, is
// [outer][parts][inner].
#define PLACE(k) ((long)(reverse ? length - 1 - (k) : (k)) * inner)

kernel void part_totals(global const DATA *restrict data, global SUM *restrict totals, const int length,
                        const int inner, const int parts, const int part, const int reverse, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    data += (long)(item / inner / parts) * length * inner + item % inner;
    const int start = item / inner % parts * part, end = min(length, start + part);
    SUM sum = IDENTITY;
    for (int k = start; k < end; k++)
        sum = COMBINE(sum, (SUM)DATA_LOAD(data, PLACE(k)));
    totals[item] = sum;
}

// One work-item puts in the place of each total of a row what those before are combined to.
kernel void before_parts(global SUM *restrict totals, const int inner, const int parts, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    totals += (long)(item / inner) * parts * inner + item % inner;
    SUM sum = IDENTITY;
    for (int i = 0; i < parts; i++) {
        const SUM here = totals[i * inner];
        totals[i * inner] = sum;
        sum = COMBINE(sum, here);
    }
}

// Without ``has_before`` there is one part.
kernel void running(global const DATA *restrict data, global const SUM *restrict before, global DATA *restrict out,
                    const int length, const int inner, const int parts, const int part, const int reverse,
                    const int exclusive, const int has_before, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    const long first = (long)(item / inner / parts) * length * inner + item % inner;
    data += first;
    out += first;
    const int start = item / inner % parts * part, end = min(length, start + part);
    SUM sum = IDENTITY;
    if (has_before)
        sum = before[item];
    for (int k = start; k < end; k++) {
        const SUM next = COMBINE(sum, (SUM)DATA_LOAD(data, PLACE(k)));
        DATA_STORE(exclusive ? sum : next, PLACE(k), out);
        sum = next;
    }
}
