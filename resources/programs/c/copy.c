/* Numbers at other places: sizes of four axes and the steps between neighbors on both sides. */
typedef struct {
    int32_t size[4], steps[4], output_steps[4];
} model_places;

static void model_copy(const int8_t *input, const model_places *p, int8_t *output)
{
    int32_t i, j, k, l;
    for (i = 0; i < p->size[0]; i++) {
        for (j = 0; j < p->size[1]; j++) {
            for (k = 0; k < p->size[2]; k++) {
                const int8_t *from = input + i * p->steps[0] + j * p->steps[1] + k * p->steps[2];
                int8_t *to = output + i * p->output_steps[0] + j * p->output_steps[1] + k * p->output_steps[2];
                for (l = 0; l < p->size[3]; l++) {
                    to[l * p->output_steps[3]] = from[l * p->steps[3]];
                }
            }
        }
    }
}
