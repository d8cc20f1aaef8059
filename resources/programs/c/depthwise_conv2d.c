/* Convolution of each channel by itself: kernel[row][column][output channel]. */
static void model_depthwise_conv2d(const int8_t *input, const model_window *w, const model_weights *p, int8_t *output)
{
    const int32_t many = w->output_channels / w->channels;
    int32_t row, column, o, y, x;
    for (row = 0; row < w->output_height; row++) {
        const int32_t top = row * w->stride_y - w->pad_top;
        const int32_t y0 = model_first(top, w->dilation_y);
        const int32_t y1 = model_end(top, w->dilation_y, w->window_height, w->height);
        for (column = 0; column < w->output_width; column++) {
            const int32_t left = column * w->stride_x - w->pad_left;
            const int32_t x0 = model_first(left, w->dilation_x);
            const int32_t x1 = model_end(left, w->dilation_x, w->window_width, w->width);
            for (o = 0; o < w->output_channels; o++) {
                int32_t sum = p->bias[o];
                for (y = y0; y < y1; y++) {
                    const int8_t *line = input + (top + y * w->dilation_y) * w->width * w->channels + o / many;
                    const int8_t *kernel = p->kernel + y * w->window_width * w->output_channels + o;
                    for (x = x0; x < x1; x++) {
                        sum += (line[(left + x * w->dilation_x) * w->channels] - p->input_zero)
                               * kernel[x * w->output_channels];
                    }
                }
                *output++ = model_output((int64_t)sum * p->multiplier[o], p->shift[o], p->output_zero, p->least,
                                         p->most);
            }
        }
    }
}
