/* Convolution: kernel[output channel][row][column][channel of its group]. What a window covers is
   put side by side once, for all output channels. */
static void model_cover(const int8_t *input, const model_window *w, int32_t depth, int32_t top, int32_t left,
                        int32_t zero, int16_t *patch)
{
    const int32_t y0 = model_first(top, w->dilation_y);
    const int32_t y1 = model_end(top, w->dilation_y, w->window_height, w->height);
    const int32_t x0 = model_first(left, w->dilation_x);
    const int32_t x1 = model_end(left, w->dilation_x, w->window_width, w->width);
    int32_t y, x, c;
    for (y = 0; y < w->window_height; y++) {
        for (x = 0; x < w->window_width; x++, patch += depth) {
            const int32_t is_inside = y0 <= y && y < y1 && x0 <= x && x < x1;
            const int8_t *from
                = is_inside ? input + ((top + y * w->dilation_y) * w->width + left + x * w->dilation_x) * w->channels
                            : input;
            for (c = 0; c < depth; c++) {
                patch[c] = is_inside ? (int16_t)(from[c] - zero) : 0;
            }
        }
    }
}

static void model_conv2d(const int8_t *input, const model_window *w, int32_t groups, const model_weights *p,
                         int16_t *patch, int8_t *output)
{
    const int32_t depth = w->channels / groups;
    const int32_t size = w->window_height * w->window_width * depth;
    int32_t row, column, o, i;
    for (row = 0; row < w->output_height; row++) {
        for (column = 0; column < w->output_width; column++) {
            for (o = 0; o < w->output_channels; o++) {
                const int32_t many = w->output_channels / groups;
                const int8_t *kernel = p->kernel + o * size;
                int32_t sum = p->bias[o];
                if (o % many == 0) {
                    model_cover(input + o / many * depth, w, depth, row * w->stride_y - w->pad_top,
                                column * w->stride_x - w->pad_left, p->input_zero, patch);
                }
                for (i = 0; i < size; i++) {
                    sum += patch[i] * kernel[i];
                }
                *output++ = model_output((int64_t)sum * p->multiplier[o], p->shift[o], p->output_zero, p->least,
                                         p->most);
            }
        }
    }
}
