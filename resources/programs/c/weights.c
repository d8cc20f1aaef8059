/* Weights of a layer, with a multiplier and shift for each output channel. */
typedef struct {
    const int8_t *kernel;
    const int32_t *bias;
    const int32_t *multiplier;
    const int8_t *shift;
    int32_t input_zero, output_zero, least, most;
} model_weights;
