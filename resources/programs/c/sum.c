/* Sums, or means, by the multiplier. `zeros` is what the zeros of the input add up to. */
static void model_sum(const int8_t *input, const model_axes *axes, int32_t zeros, int32_t multiplier, int32_t shift,
                      int32_t zero, int8_t *output)
{
    const int32_t count = axes->kept[0] * axes->kept[1] * axes->kept[2];
    int32_t i;
    for (i = 0; i < count; i++) {
        const int32_t sum = model_reduced(input, axes, i, 0) - zeros;
        output[i] = model_output((int64_t)sum * multiplier, shift, zero, -128, 127);
    }
}
