/* Each output lies between two rows and two columns of the input; its part of the second ones is
   given in 1,024ths. */
typedef struct {
    int32_t output_height, output_width, channels, width;
    const int16_t *rows, *next_rows, *row_parts;
    const int16_t *columns, *next_columns, *column_parts;
} model_grid;

static void model_resize(const int8_t *input, const model_grid *g, int8_t *output)
{
    int32_t row, column, c;
    for (row = 0; row < g->output_height; row++) {
        const int8_t *above = input + g->rows[row] * g->width * g->channels;
        const int8_t *below = input + g->next_rows[row] * g->width * g->channels;
        const int32_t y = g->row_parts[row];
        for (column = 0; column < g->output_width; column++) {
            const int32_t left = g->columns[column] * g->channels;
            const int32_t right = g->next_columns[column] * g->channels;
            const int32_t x = g->column_parts[column];
            for (c = 0; c < g->channels; c++) {
                const int32_t top = above[left + c] * (1024 - x) + above[right + c] * x;
                const int32_t bottom = below[left + c] * (1024 - x) + below[right + c] * x;
                const int32_t sum = top * (1024 - y) + bottom * y;
                *output++ = (int8_t)((sum + (sum > 0 ? 524288 : -524288)) / 1048576);
            }
        }
    }
}
