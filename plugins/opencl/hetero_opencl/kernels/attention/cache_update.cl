// Append tokens [batch][heads][tokens][width] to a cache [batch][heads][room][width] after its lengths[batch] valid
// tokens. The result [batch][heads][total][width] is 0 after the cache. WORD is the C type that moves one element of
// the width.
kernel void cache_update(global const WORD *restrict cache, global const WORD *restrict tokens,
                         global const INDEX *restrict lengths, global WORD *restrict result, const int heads,
                         const int room, const int new_tokens, const int total, const int width, const int count)
{
    const int item = get_global_id(0);
    if (item >= count) return;
    const int column = item % width, row = item / width % total, head = item / width / total;
    const long token = row - (long)INDEX_LOAD(lengths, head / heads);
    if (token >= 0 && token < new_tokens)
        result[item] = tokens[((long)head * new_tokens + token) * width + column];
    else
        result[item] = row < room ? cache[((long)head * room + row) * width + column] : (WORD)0;
}
