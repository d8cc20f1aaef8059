/* Shares of exponentials; the table holds those of 0, -1, -2 ... steps of the input. */
static void model_softmax(const int8_t *input, int32_t rows, int32_t depth, const int32_t *table, int32_t steps,
                          int32_t zero, int8_t *output)
{
    int32_t row, i;
    for (row = 0; row < rows; row++, input += depth, output += depth) {
        int32_t largest = -128;
        int64_t sum = 0;
        for (i = 0; i < depth; i++) {
            largest = input[i] > largest ? input[i] : largest;
        }
        for (i = 0; i < depth; i++) {
            sum += table[largest - input[i]];
        }
        for (i = 0; i < depth; i++) {
            const int64_t part = (int64_t)table[largest - input[i]] * steps;
            output[i] = (int8_t)model_clamp((part + sum / 2) / sum + zero, -128, 127);
        }
    }
}
