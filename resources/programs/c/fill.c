static void model_fill(int32_t value, int32_t count, int8_t *output)
{
    int32_t i;
    for (i = 0; i < count; i++) {
        output[i] = (int8_t)value;
    }
}
