/* Dense layer: kernel[output][input], for each row of inputs. */
static void model_dense(const int8_t *input, int32_t rows, int32_t depth, int32_t units, const model_weights *p,
                        int8_t *output)
{
    int32_t row, o, i;
    for (row = 0; row < rows; row++, input += depth) {
        for (o = 0; o < units; o++) {
            const int8_t *kernel = p->kernel + o * depth;
            int32_t sum = p->bias[o];
            for (i = 0; i < depth; i++) {
                sum += (input[i] - p->input_zero) * kernel[i];
            }
            *output++
                = model_output((int64_t)sum * p->multiplier[o], p->shift[o], p->output_zero, p->least, p->most);
        }
    }
}
