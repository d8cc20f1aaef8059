/* The largest along the reduced axes. */
static void model_largest(const int8_t *input, const model_axes *axes, int8_t *output)
{
    const int32_t count = axes->kept[0] * axes->kept[1] * axes->kept[2];
    int32_t i;
    for (i = 0; i < count; i++) {
        output[i] = (int8_t)model_reduced(input, axes, i, 1);
    }
}
