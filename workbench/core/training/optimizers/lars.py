"""LARS: SGD with momentum whose steps are, layer by layer, in proportion to the weights.

You, Gitman and Ginsburg, "Large Batch Training of Convolutional Networks" (2017), algorithm 1.
For a layer with weights w and gradient g, at the learning rate r:

    trust = 0.001 |w| / (|g| + decay |w|)
    v <- momentum v + r trust (g + decay w)
    w <- w - v

Biases and what normalizations scale and shift with take SGD's step, without trust and decay:
their norms say nothing of a good step. So does a layer of zeros, which would stay as it is.

Keras has LAMB, which is the same upon Adam, but not LARS.
"""

from __future__ import annotations

from workbench.core.training.specs import LowRate, OptimizerSpec

_DEFINITION = '''\
class LARS(keras.optimizers.Optimizer):
    """Layer-wise adaptive rates (You, Gitman and Ginsburg, 2017)."""

    def __init__(self, learning_rate, momentum=0.0, weight_decay=None, **more):
        super().__init__(learning_rate, weight_decay=weight_decay, **more)
        self.momentum = momentum

    def build(self, variables):
        if self.built:
            return
        super().build(variables)
        self.velocities = self.add_optimizer_variables(variables, "velocity")
        self.is_layer = [len(variable.shape) > 1 for variable in variables]
        self.decays = [self._use_weight_decay(variable) for variable in variables]

    def _apply_weight_decay(self, variables):
        pass  # it is part of the step

    def update_step(self, gradient, variable, learning_rate):
        ops, number = keras.ops, self._get_variable_index(variable)
        step = ops.cast(gradient, variable.dtype)
        rate = ops.cast(learning_rate, variable.dtype)
        if self.is_layer[number]:  # biases and normalizations take plain steps
            decay = (self.weight_decay or 0.0) if self.decays[number] else 0.0
            weights = ops.convert_to_tensor(variable)
            size, slope = (ops.sqrt(ops.sum(ops.square(v))) for v in (weights, step))
            bound = slope + decay * size
            trust = 0.001 * size / ops.maximum(bound, 1e-30)
            rate = rate * ops.where(size * bound > 0, trust, 1.0)
            step = step + decay * weights
        velocity = self.velocities[number]
        self.assign(velocity, self.momentum * velocity + rate * step)
        self.assign_sub(variable, velocity)

    def get_config(self):
        return {**super().get_config(), "momentum": self.momentum}
'''

SPEC = OptimizerSpec(
    key="lars",
    title="LARS",
    order=100,
    slots=1,
    uses=("momentum",),
    rate_scaling="linear",
    has_layer_rates=True,
    high_rate=None,
    low_rate=LowRate(
        below=0.5,
        suggested=2.0,
        reason=lambda rate: (
            f"At a learning rate of {rate:g}, a LARS step changes the weights by {rate / 10:.2g}% "
            "of their norm. Learning rates of 1 to 30 are common."
        ),
    ),
    definition=_DEFINITION,
)
