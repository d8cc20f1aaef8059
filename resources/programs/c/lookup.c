/* A function of one number as a table of all its results. */
static void model_lookup(const uint8_t *input, const uint8_t *table, int32_t count, uint8_t *output)
{
    int32_t i;
    for (i = 0; i < count; i++) {
        output[i] = table[input[i]];
    }
}
