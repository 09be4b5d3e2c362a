// Convert an index from the data, negative if counted from the end, to a position on an axis. Return -1 if it is out of
// range.
int normalize_index(const long index, const int length)
{
    const long position = index < 0 ? index + length : index;
    return position >= 0 && position < length ? (int)position : -1;
}
