static int8_t model_multiply(int32_t a, int32_t b, const model_pair *p)
{
    const int32_t product = (a - p->a_zero) * (b - p->b_zero);
    return model_output((int64_t)product * p->multiplier, p->shift, p->zero, p->least, p->most);
}
