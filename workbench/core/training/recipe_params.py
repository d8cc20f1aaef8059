"""The parameters of a recipe, in the sections of its form.

Fields that came later than the first version of the project file have defaults that change
nothing: a project without them trains as it always did.
"""

from __future__ import annotations

from collections.abc import Mapping

from workbench.core.params import BoolParam, ChoiceParam, FloatParam, IntParam, Param
from workbench.core.training.regularization_params import REGULARISATION

OPTIMIZERS: Mapping[str, str] = {
    "sgd": "SGD",
    "adam": "Adam",
    "adamw": "AdamW",
    "nadam": "Nadam",
    "rmsprop": "RMSprop",
    "lamb": "Lamb",
    "lion": "Lion",
    "adafactor": "Adafactor",
    "muon": "Muon",
    "lars": "LARS",
}
"""Optimizer key -> class name: Keras's, but for those of `OWN_OPTIMIZERS`."""

OWN_OPTIMIZERS = frozenset({"lars"})
"""Optimizers that Keras does not have."""

SCALINGS: Mapping[str, str] = {
    "none": "none",
    "linear": "linear",
    "square_root": "square root",
}
"""How the learning rate follows the batch: key -> its name."""

SCHEDULES: Mapping[str, str] = {
    "constant": "constant",
    "step": "step",
    "exponential": "exponential",
    "cosine": "cosine",
    "one_cycle": "one-cycle",
    "plateau": "on plateau",
}
"""Schedule key -> its name."""

TRAINING: tuple[Param, ...] = (
    ChoiceParam(
        key="optimizer",
        title="Optimizer",
        default="adam",
        choices=tuple(OPTIMIZERS),
        titles={**OPTIMIZERS, "lamb": "LAMB"},
        help="How the weights are updated from the gradients. Adam is a good default; LAMB "
        "and LARS are for batches of thousands.",
    ),
    FloatParam(
        key="learning_rate",
        title="Learning rate",
        default=0.001,
        minimum=0.0,
        is_minimum_excluded=True,
        maximum=100.0,
        step=0.0001,
        help="Size of each update. Too large diverges, too small trains slowly.",
    ),
    IntParam(
        key="batch_size",
        title="Batch size",
        default=64,
        minimum=1,
        maximum=65_536,
        help="Images per step, over all replicas (global batch size).",
    ),
    IntParam(
        key="epochs",
        title="Epochs",
        default=10,
        minimum=1,
        maximum=100_000,
        help="Passes over the training set.",
    ),
    IntParam(
        key="steps_per_epoch",
        title="Steps per epoch",
        default=None,
        minimum=1,
        maximum=10_000_000,
        is_optional=True,
        none_text="full data set",
        help="Steps that count as one epoch. By default an epoch is one pass over the "
        "training set.",
        is_advanced=True,
    ),
    ChoiceParam(
        key="validation",
        title="Validation",
        default="split",
        choices=("split", "test", "none"),
        titles={
            "split": "from training set",
            "test": "test set",
            "none": "none",
        },
        help="Images for the validation metrics. A split from the training set keeps the "
        "test set unbiased; the published tutorials use the test set.",
    ),
    FloatParam(
        key="validation_share",
        title="Validation split",
        default=0.1,
        minimum=0.001,
        maximum=0.9,
        help="Fraction of the training images held out for validation (stratified).",
        is_advanced=True,
    ),
    FloatParam(
        key="test_share",
        title="Test split",
        default=0.1,
        minimum=0.001,
        maximum=0.9,
        help="Fraction of all images held out for testing, where the data set has no test set.",
        is_advanced=True,
    ),
    FloatParam(
        key="momentum",
        title="Momentum",
        default=0.9,
        minimum=0.0,
        maximum=1.0,
        is_maximum_excluded=True,
        help="For SGD, RMSprop and LARS: fraction of the previous update that is carried over.",
        is_advanced=True,
    ),
    BoolParam(
        key="nesterov",
        title="Nesterov momentum",
        default=False,
        help="For SGD: computes the gradient ahead along the momentum.",
        is_advanced=True,
    ),
    IntParam(
        key="seed",
        title="Seed",
        default=7,
        minimum=0,
        maximum=2**31 - 1,
        help="Random seed: makes the split, the shuffling and the initial weights reproducible.",
    ),
)

_SCALING: tuple[Param, ...] = (
    ChoiceParam(
        key="rate_scaling",
        title="LR scaling (with batch)",
        default="none",
        choices=tuple(SCALINGS),
        titles=SCALINGS,
        help="Scales the learning rate with the global batch size. Linear: twice the batch, "
        "twice the rate (Goyal et al., 2017, for SGD). Square root suits Adam and LAMB.",
        group="Schedule",
    ),
    IntParam(
        key="rate_base_batch",
        title="Reference batch size",
        default=256,
        minimum=1,
        maximum=65_536,
        help="Batch size that the learning rate is given for.",
        group="Schedule",
    ),
)

SCHEDULE: tuple[Param, ...] = (
    ChoiceParam(
        key="schedule",
        title="Schedule",
        default="constant",
        choices=tuple(SCHEDULES),
        titles=SCHEDULES,
        help="Learning rate schedule: constant, step decay, exponential decay, cosine decay, "
        "one-cycle, or reduced when the monitored metric stops improving (reduce on "
        "plateau).",
        group="Schedule",
    ),
    FloatParam(
        key="warmup_epochs",
        title="Warm-up epochs",
        default=None,
        minimum=0.0,
        maximum=10_000.0,
        step=0.5,
        is_optional=True,
        help="Epochs of linear warm-up to the full learning rate. Automatic: 3% of the "
        "training for cosine decay, 30% for one-cycle, none otherwise.",
        group="Schedule",
    ),
    FloatParam(
        key="final_share",
        title="Final LR fraction",
        default=0.01,
        minimum=0.0,
        maximum=1.0,
        help="For cosine decay and one-cycle: final learning rate as a fraction of the peak.",
        group="Schedule",
    ),
    FloatParam(
        key="decay_every_epochs",
        title="Decay every",
        default=10.0,
        minimum=0.0,
        is_minimum_excluded=True,
        maximum=100_000.0,
        step=1.0,
        unit="epochs",
        help="For step and exponential decay: epochs per decay by the factor.",
        group="Schedule",
    ),
    FloatParam(
        key="decay_factor",
        title="Decay factor",
        default=0.1,
        minimum=0.0,
        is_minimum_excluded=True,
        maximum=1.0,
        step=0.05,
        help="Multiplier of the learning rate at each decay.",
        group="Schedule",
    ),
    IntParam(
        key="plateau_patience",
        title="Plateau patience",
        default=5,
        minimum=1,
        maximum=10_000,
        unit="epochs",
        help="For reduce on plateau: epochs without improvement before the learning rate is "
        "reduced.",
        group="Schedule",
    ),
    *_SCALING,
)

KEEP: tuple[Param, ...] = (
    ChoiceParam(
        key="keep",
        title="Save weights from",
        default="last",
        choices=("last", "best"),
        titles={"last": "last epoch", "best": "best epoch"},
        help="Which weights the run keeps at the end.",
        group="Checkpoints",
    ),
    ChoiceParam(
        key="keep_by",
        title="Monitor",
        default="val_accuracy",
        choices=("val_accuracy", "val_loss", "top_k", "loss"),
        titles={
            "val_accuracy": "val. accuracy",
            "val_loss": "val. loss",
            "top_k": "top-k",
            "loss": "training loss",
        },
        help="Metric for the best epoch, early stopping and reduce on plateau: validation "
        "accuracy, validation loss, top-k accuracy or training loss. Without "
        "validation, the training metric is used.",
        group="Checkpoints",
    ),
    IntParam(
        key="early_stopping_patience",
        title="Early stopping, patience",
        default=None,
        minimum=1,
        maximum=100_000,
        unit="epochs",
        is_optional=True,
        none_text="off",
        help="Stops training after this many epochs without improvement.",
        group="Checkpoints",
    ),
    IntParam(
        key="top_k",
        title="Top-k accuracy",
        default=1,
        minimum=1,
        maximum=1_000,
        help="k of the top-k validation accuracy. With 5, a prediction counts as correct "
        "when the label is among the 5 most likely classes. 1 is plain accuracy.",
        group="Checkpoints",
    ),
)

EXECUTION: tuple[Param, ...] = (
    ChoiceParam(
        key="precision",
        title="Precision",
        default="auto",
        choices=("auto", "float32", "bfloat16"),
        titles={"auto": "automatic"},
        help="bfloat16 is several times faster on a processor with native bfloat16; "
        "automatic uses it only there. The last layer and the loss stay in float32.",
        group="Execution",
    ),
    ChoiceParam(
        key="xla",
        title="XLA",
        default="auto",
        choices=("auto", "on", "off"),
        titles={"auto": "automatic"},
        help="Compiles the training step with XLA: slower to start, often faster to run. "
        "Automatic benchmarks both and uses the faster.",
        group="Execution",
    ),
    IntParam(
        key="steps_per_call",
        title="Steps per execution",
        default=None,
        minimum=1,
        maximum=1_000,
        is_optional=True,
        help="Training steps per call of the compiled function. Automatic: about an eighth "
        "of a second of steps.",
        group="Execution",
    ),
    ChoiceParam(
        key="pipeline",
        title="Data cached in",
        default="auto",
        choices=("auto", "memory", "cached", "streamed"),
        titles={
            "auto": "automatic",
            "memory": "memory",
            "cached": "disk",
            "streamed": "no cache",
        },
        help="Where decoded images are cached: in memory, on disk, or not at all (decoded "
        "again each epoch). Automatic uses memory when they fit.",
        group="Execution",
    ),
    IntParam(
        key="threads",
        title="CPU threads",
        default=None,
        minimum=1,
        maximum=1_024,
        is_optional=True,
        help="Threads that compute a training step. Automatic uses all cores.",
        group="Execution",
    ),
    ChoiceParam(
        key="sync_batch_norm",
        title="Synchronized batch norm",
        default="auto",
        choices=("auto", "on", "off"),
        titles={"auto": "automatic"},
        help="With several replicas: batch statistics over the global batch, as on one "
        "device (on), or per replica, which is faster (off). Automatic synchronizes "
        "below 32 images per replica.",
        group="Execution",
    ),
)

RECIPE_PARAMS: tuple[Param, ...] = (*TRAINING, *SCHEDULE, *REGULARISATION, *KEEP, *EXECUTION)
"""All of them, in the order of the form."""
