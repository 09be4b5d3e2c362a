// Columns drawn with the probabilities that weights [rows][columns] give, or with `logarithms` their logarithms do, by
// numbers from 0 to 1 [rows][samples]: that in whose share of the sum of its row a number falls.

// The weights of each row, added up to each column where `added`.
kernel void weigh(global const DATA *restrict probs, global REAL *restrict weights, const int columns,
                  const int logarithms, const int added, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    REAL largest = -INFINITY, sum = 0;
    for (int column = 0; column < columns; column++)
        largest = fmax(largest, (REAL)DATA_LOAD(probs, item * columns + column));
    for (int column = 0; column < columns; column++) {
        const REAL given = DATA_LOAD(probs, item * columns + column);
        const REAL weight = logarithms ? exp(given - largest) : given;
        sum += weight;
        weights[item * columns + column] = added ? sum : weight;
    }
}

// Every sample from all columns, of which the weights are added up.
kernel void draw(global const REAL *restrict ends, global const float *restrict numbers, global INDEX *restrict target,
                 const int columns, const int samples, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    ends += item / samples * columns;
    const REAL number = numbers[item] * ends[columns - 1];
    int low = 0, high = columns - 1;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (ends[middle] > number)
            high = middle;
        else
            low = middle + 1;
    }
    target[item] = low;
}

// All samples of a row one after the other, each from the columns that are left.
kernel void draw_once(global REAL *restrict weights, global const float *restrict numbers,
                      global INDEX *restrict target, const int columns, const int samples, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    weights += item * columns;
    for (int sample = 0; sample < samples; sample++) {
        REAL sum = 0;
        for (int column = 0; column < columns; column++)
            sum += weights[column];
        const REAL number = numbers[item * samples + sample] * sum;
        REAL end = weights[0];
        int chosen = 0;
        while (end <= number && chosen < columns - 1)
            end += weights[++chosen];
        target[item * samples + sample] = chosen;
        weights[chosen] = 0;
    }
}
