// -1, 0 or 1 as a number of one type is less than one of another, equal to it or greater; NaN is equal to itself and
// greater than all else. Where WIDE rounds a whole number to the other one, both are compared again.
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
