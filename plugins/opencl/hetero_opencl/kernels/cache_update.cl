// A cache [batch][heads][room][width] with new tokens [batch][heads][tokens][width], behind the lengths[batch] tokens
// that each has; the result [batch][heads][total][width] is 0 behind the cache. WORD moves an element of the width.
kernel void cache_update(global const WORD *restrict cache, global const WORD *restrict tokens,
                         global const INDEX *restrict lengths, global WORD *restrict result, const int heads,
                         const int room, const int new_tokens, const int total, const int width, const int count)
{
    const int item = get_global_id(0);
    if (item >= count) return;
    const int place = item % width, row = item / width % total, head = item / width / total;
    const long behind = row - (long)INDEX_LOAD(lengths, head / heads);
    if (behind >= 0 && behind < new_tokens)
        result[item] = tokens[((long)head * new_tokens + behind) * width + place];
    else
        result[item] = row < room ? cache[((long)head * room + row) * width + place] : (WORD)0;
}
