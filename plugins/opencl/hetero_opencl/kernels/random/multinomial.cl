// Draw columns with the probabilities given by weights [rows][columns], or by their logarithms (`logarithms`). Uniform
// numbers in [0, 1), [rows][samples], are compared with the cumulative weights of the row.

// The weights of each row, or with `cumulative` their cumulative sums.
kernel void weigh(global const DATA *restrict probs, global REAL *restrict weights, const int columns,
                  const int logarithms, const int cumulative, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    REAL largest = -INFINITY, sum = 0;
    for (int column = 0; column < columns; column++)
        largest = fmax(largest, (REAL)DATA_LOAD(probs, item * columns + column));
    for (int column = 0; column < columns; column++) {
        const REAL value = DATA_LOAD(probs, item * columns + column);
        const REAL weight = logarithms ? exp(value - largest) : value;
        sum += weight;
        weights[item * columns + column] = cumulative ? sum : weight;
    }
}

// Draw with replacement, from cumulative weights.
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

// Draw without replacement: all samples of a row one after the other, each from the columns that are left.
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
