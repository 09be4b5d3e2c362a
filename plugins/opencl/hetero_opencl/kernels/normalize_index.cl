// Which element of an axis an index that comes with the data names: a negative one counts from the end. -1 where there
// is no such element.
int normalize_index(const long index, const int length)
{
    const long place = index < 0 ? index + length : index;
    return place >= 0 && place < length ? (int)place : -1;
}
