static int8_t model_minimum(int32_t a, int32_t b, const model_pair *p)
{
    return (int8_t)model_clamp(a < b ? a : b, p->least, p->most);
}
