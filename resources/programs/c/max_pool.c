/* The largest number of each window. */
static void model_max_pool(const int8_t *input, const model_window *w, int32_t least, int32_t most, int8_t *output)
{
    int32_t row, column, c, y, x;
    for (row = 0; row < w->output_height; row++) {
        const int32_t top = row * w->stride_y - w->pad_top;
        const int32_t y0 = model_first(top, 1);
        const int32_t y1 = model_end(top, 1, w->window_height, w->height);
        for (column = 0; column < w->output_width; column++) {
            const int32_t left = column * w->stride_x - w->pad_left;
            const int32_t x0 = model_first(left, 1);
            const int32_t x1 = model_end(left, 1, w->window_width, w->width);
            for (c = 0; c < w->channels; c++) {
                int32_t largest = -128;
                for (y = y0; y < y1; y++) {
                    const int8_t *line = input + (top + y) * w->width * w->channels + c;
                    for (x = x0; x < x1; x++) {
                        const int32_t value = line[(left + x) * w->channels];
                        largest = value > largest ? value : largest;
                    }
                }
                *output++ = (int8_t)model_clamp(largest, least, most);
            }
        }
    }
}
