// STFT and ISTFT frames, computed as NUMBER. A window is centered in a frame of zeros.
#ifdef WINDOW
static inline NUMBER window_at(global const WINDOW *window, const int i, const int size, const int frame)
{
    const int position = i - (frame - size) / 2;
    return position < 0 || position >= size ? 0 : WINDOW_LOAD(window, position);
}

// Cut a signal into windowed frames, [batch, frames, frame] or with `frames_last` [batch, frame, frames].
kernel void cut(global const WINDOW *restrict signal, global const WINDOW *restrict window,
                global NUMBER *restrict target, const int length, const int size, const int frame, const int frames,
                const int step, const int frames_last, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    const int i = frames_last ? item / frames % frame : item % frame;
    const int number = frames_last ? item % frames : item / frame % frames;
    const int at = item / frame / frames * length + number * step + i;
    target[item] = WINDOW_LOAD(signal, at) * window_at(window, i, size, frame);
}

// Overlap-add of frames [batch, frame, frames], multiplied by the window and divided by the sum of its squares (unless
// that is 0). Output starts at sample `begin`; samples after the last frame are 0.
kernel void overlap(global const NUMBER *restrict source, global const WINDOW *restrict window,
                    global WINDOW *restrict signal, const int length, const int size, const int frame,
                    const int frames, const int step, const int begin, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    source += item / length * frame * frames;
    const int at = item % length + begin;
    NUMBER sum = 0, weight = 0;
    for (int number = at < frame ? 0 : (at - frame) / step + 1; number < frames && number * step <= at; number++) {
        const int i = at - number * step;
        const NUMBER factor = window_at(window, i, size, frame);
        sum += source[i * frames + number] * factor;
        weight += factor * factor;
    }
    WINDOW_STORE(weight > 0 ? sum / weight : sum, item, signal);
}
#endif

#ifdef RATE
// Bin of an edge of the mel bands, counted from the lower end. The quotient is rounded as by numpy's //.
static inline double bin_of(const int edge, const double low, const double high, const int bands, const int dft_length,
                            const double rate)
{
    const double hertz = 700 * (exp10((low + (high - low) / (bands + 2) * edge) / 2595) - 1);
    const double number = hertz * (dft_length + 1), rest = fmod(number, rate);
    const double quotient = (number - rest) / rate - (rest != 0 && (rest < 0) != (rate < 0));
    return rint(quotient);
}

// Triangular weights [dft_length / 2 + 1, bands]: rising from one edge to the next, and falling to the one after it.
kernel void mel_weights(global const RATE *restrict sample_rate, global const LOW *restrict lower,
                        global const HIGH *restrict upper, global RESULT *restrict matrix, const int bands,
                        const int dft_length, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    const int band = item % bands;
    const double low = 2595 * log10(1 + LOW_LOAD(lower, 0) / 700.0);
    const double high = 2595 * log10(1 + HIGH_LOAD(upper, 0) / 700.0);
    const double rate = RATE_LOAD(sample_rate, 0), bin = item / bands;
    const double first = bin_of(band, low, high, bands, dft_length, rate);
    const double middle = bin_of(band + 1, low, high, bands, dft_length, rate);
    const double last = bin_of(band + 2, low, high, bands, dft_length, rate);
    double weight = bin == middle;
    if (first <= bin && bin < middle)
        weight = (bin - first) / (middle - first);
    if (middle <= bin && bin < last)
        weight = (last - bin) / (last - middle);
    RESULT_STORE(weight, item, matrix);
}
#endif
