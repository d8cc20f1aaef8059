/* Transposed convolution: kernel[output channel][row][column][channel]; the window's strides and
   padding are those of its output. */
static void model_transpose_conv(const int8_t *input, const model_window *w, const model_weights *p, int8_t *output)
{
    int32_t row, column, o, y, x, c;
    for (row = 0; row < w->output_height; row++) {
        for (column = 0; column < w->output_width; column++) {
            for (o = 0; o < w->output_channels; o++) {
                int32_t sum = p->bias[o];
                for (y = 0; y < w->window_height; y++) {
                    const int32_t top = row + w->pad_top - y;
                    if (top < 0 || top % w->stride_y != 0 || top / w->stride_y >= w->height) {
                        continue;
                    }
                    for (x = 0; x < w->window_width; x++) {
                        const int32_t left = column + w->pad_left - x;
                        const int8_t *from, *kernel;
                        if (left < 0 || left % w->stride_x != 0 || left / w->stride_x >= w->width) {
                            continue;
                        }
                        from = input + (top / w->stride_y * w->width + left / w->stride_x) * w->channels;
                        kernel = p->kernel + ((o * w->window_height + y) * w->window_width + x) * w->channels;
                        for (c = 0; c < w->channels; c++) {
                            sum += (from[c] - p->input_zero) * kernel[c];
                        }
                    }
                }
                *output++ = model_output((int64_t)sum * p->multiplier[o], p->shift[o], p->output_zero, p->least,
                                         p->most);
            }
        }
    }
}
