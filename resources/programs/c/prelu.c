/* Numbers below zero are multiplied by b. */
static int8_t model_prelu(int32_t a, int32_t b, const model_pair *p)
{
    const int32_t value = a - p->a_zero;
    const int64_t scaled = value >= 0 ? (int64_t)value * p->a_multiplier
                                      : (int64_t)(value * (b - p->b_zero)) * p->b_multiplier;
    return model_output(scaled, p->shift, p->zero, p->least, p->most);
}
