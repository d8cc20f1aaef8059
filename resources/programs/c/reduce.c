/* Axes of the input that are kept and those that are reduced, with the steps between neighbors. */
typedef struct {
    int32_t kept[3], kept_steps[3];
    int32_t reduced[3], reduced_steps[3];
} model_axes;

/* The sum, or with `is_largest` the largest, of what is reduced to the output at an index. */
static int32_t model_reduced(const int8_t *input, const model_axes *a, int32_t index, int32_t is_largest)
{
    int32_t result = is_largest ? -128 : 0;
    int32_t i, j, k;
    input += index % a->kept[2] * a->kept_steps[2];
    input += index / a->kept[2] % a->kept[1] * a->kept_steps[1];
    input += index / a->kept[2] / a->kept[1] * a->kept_steps[0];
    for (i = 0; i < a->reduced[0]; i++) {
        for (j = 0; j < a->reduced[1]; j++) {
            for (k = 0; k < a->reduced[2]; k++) {
                const int32_t value
                    = input[i * a->reduced_steps[0] + j * a->reduced_steps[1] + k * a->reduced_steps[2]];
                result = !is_largest ? result + value : value > result ? value : result;
            }
        }
    }
    return result;
}
