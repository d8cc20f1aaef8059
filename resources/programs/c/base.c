/* Numbers of 8 bits stand for (number - zero) * scale. Products of scales are given as
   multiplier * 2^-shift. Shifting a negative number to the right keeps its sign, as with every
   usual compiler. */

static inline int32_t model_clamp(int64_t value, int32_t least, int32_t most)
{
    return value < least ? least : value > most ? most : (int32_t)value;
}

/* A product times 2^-shift, rounded, as an output of 8 bits. */
static inline int8_t model_output(int64_t product, int32_t shift, int32_t zero, int32_t least, int32_t most)
{
    const int64_t half = (int64_t)1 << (shift - 1);
    return (int8_t)model_clamp(((product + half) >> shift) + zero, least, most);
}

/* Where a window of a convolution or pooling lies; sizes are in elements of the input. */
typedef struct {
    int32_t height, width, channels;
    int32_t output_height, output_width, output_channels;
    int32_t window_height, window_width;
    int32_t stride_y, stride_x;
    int32_t dilation_y, dilation_x;
    int32_t pad_top, pad_left;
} model_window;

/* The first of `count` taps of a window, from `start` on, that is inside 0..size-1, and their end. */
static inline int32_t model_first(int32_t start, int32_t dilation)
{
    return start < 0 ? (-start + dilation - 1) / dilation : 0;
}

static inline int32_t model_end(int32_t start, int32_t dilation, int32_t count, int32_t size)
{
    const int32_t inside = start < size ? (size - start + dilation - 1) / dilation : 0;
    return inside < count ? inside : count;
}
