/* Two inputs, each repeated along the axes where its steps are 0, and the numbers of a rule. */
typedef struct {
    int32_t size[4], a_steps[4], b_steps[4];
    int32_t a_zero, b_zero, a_multiplier, b_multiplier;
    int32_t multiplier, shift, zero, least, most;
} model_pair;

typedef int8_t (*model_rule)(int32_t a, int32_t b, const model_pair *p);

/* Applies a rule to each pair of numbers. */
static void model_combine(const int8_t *a, const int8_t *b, const model_pair *p, model_rule rule, int8_t *output)
{
    int32_t i, j, k, l;
    for (i = 0; i < p->size[0]; i++) {
        for (j = 0; j < p->size[1]; j++) {
            for (k = 0; k < p->size[2]; k++) {
                const int8_t *from_a = a + i * p->a_steps[0] + j * p->a_steps[1] + k * p->a_steps[2];
                const int8_t *from_b = b + i * p->b_steps[0] + j * p->b_steps[1] + k * p->b_steps[2];
                for (l = 0; l < p->size[3]; l++) {
                    *output++ = rule(from_a[l * p->a_steps[3]], from_b[l * p->b_steps[3]], p);
                }
            }
        }
    }
}
