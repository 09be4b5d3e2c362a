// YUV 4:2:0 to RGB, or with BACKWARDS to BGR, with OpenVINO's coefficients of BT.601. The U and V elements of an image
// begin at their offsets, `step` elements apart. One work-item per pixel.
#pragma OPENCL FP_CONTRACT OFF

kernel void convert_colors(global const DATA *restrict brightness, global const DATA *restrict u,
                           global const DATA *restrict v, global DATA *restrict out, const int height, const int width,
                           const int image_step, const int u_step, const int u_offset, const int v_offset,
                           const int step, const int count)
{
    const int item = get_global_id(0);
    if (item >= count)
        return;
    const int x = item % width, y = item / width % height;
    const long image = item / width / height;
    const long color = image * u_step + (y / 2 * (width / 2) + x / 2) * step;
    const float light = 1.164f * ((float)DATA_LOAD(brightness, image * image_step + y * width + x) - 16);
    const float first = (float)DATA_LOAD(u, u_offset + color) - 128;
    const float second = (float)DATA_LOAD(v, v_offset + color) - 128;
    const float red = 1.596f * second, green = -0.391f * first - 0.813f * second, blue = 2.018f * first;
    const float colors[3] = {light + (BACKWARDS ? blue : red), light + green, light + (BACKWARDS ? red : blue)};
    for (int channel = 0; channel < 3; channel++) {
        const float value = WHOLE ? floor(colors[channel] + 0.5f) : colors[channel];
        DATA_STORE(value < 0 ? 0 : value > 255 ? 255 : value, (long)item * 3 + channel, out);  // NaN stays
    }
}
