// Return -1, 0 or 1 if x is less than, equal to or greater than y. NaN equals NaN and is greater than all numbers. If
// they are equal as WIDE, which may have rounded an integer, they are compared again as EXACT integers.
int compare(const LEFT_VALUE x, const RIGHT_VALUE y)
{
    const WIDE a = x, b = y;
    if (a < b || (b != b && a == a))
        return -1;
    if (b < a || (a != a && b == b))
        return 1;
    const EXACT whole = CONVERT(x), other = CONVERT(y);
    return whole < other ? -1 : whole > other;
}
