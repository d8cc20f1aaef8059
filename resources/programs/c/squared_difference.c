/* The multipliers bring both inputs to one scale, of at most 15 bits for their difference. */
static int8_t model_squared_difference(int32_t a, int32_t b, const model_pair *p)
{
    const int32_t gap = ((a - p->a_zero) * p->a_multiplier - (b - p->b_zero) * p->b_multiplier + 512) >> 10;
    return model_output((int64_t)(gap * gap) * p->multiplier, p->shift, p->zero, p->least, p->most);
}
