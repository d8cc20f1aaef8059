/* The sum; the difference by a negative multiplier. */
static int8_t model_add(int32_t a, int32_t b, const model_pair *p)
{
    const int64_t sum = (int64_t)(a - p->a_zero) * p->a_multiplier + (int64_t)(b - p->b_zero) * p->b_multiplier;
    return model_output(sum, p->shift, p->zero, p->least, p->most);
}
