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
    "step": "in steps",
    "exponential": "exponential",
    "cosine": "cosine",
    "one_cycle": "one cycle",
    "plateau": "on a plateau",
}
"""Schedule key -> its name."""

TRAINING: tuple[Param, ...] = (
    ChoiceParam(
        key="optimizer",
        title="Optimizer",
        default="adam",
        choices=tuple(OPTIMIZERS),
        titles=OPTIMIZERS,
        help="How the weights follow the gradient. Adam is a good first choice; LAMB and LARS "
        "are for batches of thousands.",
    ),
    FloatParam(
        key="learning_rate",
        title="Learning rate",
        default=0.001,
        minimum=0.0,
        is_minimum_excluded=True,
        maximum=100.0,
        step=0.0001,
        help="Size of each step. Too large diverges, too small takes for ever.",
    ),
    IntParam(
        key="batch_size",
        title="Batch size",
        default=64,
        minimum=1,
        maximum=65_536,
        help="Pictures per step, over all replicas together.",
    ),
    IntParam(
        key="epochs",
        title="Epochs",
        default=10,
        minimum=1,
        maximum=100_000,
        help="How many times training goes through the pictures.",
    ),
    IntParam(
        key="steps_per_epoch",
        title="Steps per epoch",
        default=None,
        minimum=1,
        maximum=10_000_000,
        is_optional=True,
        none_text="all pictures",
        help="Steps that count as one epoch; left open, an epoch is all pictures once.",
        is_advanced=True,
    ),
    ChoiceParam(
        key="validation",
        title="Validate on",
        default="split",
        choices=("split", "test", "none"),
        titles={
            "split": "part of training",
            "test": "test pictures",
            "none": "nothing",
        },
        help="What the validation curve is measured on. The published tutorials use the "
        "test pictures; a part of the training pictures keeps the test honest.",
    ),
    FloatParam(
        key="validation_share",
        title="Validation share",
        default=0.1,
        minimum=0.001,
        maximum=0.9,
        help="Part of the training pictures kept for validation, the same in each class.",
        is_advanced=True,
    ),
    FloatParam(
        key="test_share",
        title="Test share",
        default=0.1,
        minimum=0.001,
        maximum=0.9,
        help="Part of all pictures kept for the test where the source has no test part.",
        is_advanced=True,
    ),
    FloatParam(
        key="momentum",
        title="Momentum",
        default=0.9,
        minimum=0.0,
        maximum=1.0,
        is_maximum_excluded=True,
        help="For SGD, RMSprop and LARS: how much of the last step is kept.",
        is_advanced=True,
    ),
    BoolParam(
        key="nesterov",
        title="Nesterov",
        default=False,
        help="For SGD: look ahead along the momentum before each step.",
        is_advanced=True,
    ),
    IntParam(
        key="seed",
        title="Seed",
        default=7,
        minimum=0,
        maximum=2**31 - 1,
        help="Start of all random numbers: the same seed gives the same split, order and start.",
    ),
)

_SCALING: tuple[Param, ...] = (
    ChoiceParam(
        key="rate_scaling",
        title="Rate scaling",
        default="none",
        choices=tuple(SCALINGS),
        titles=SCALINGS,
        help="How the learning rate follows the batch of all replicas together. Linear: twice "
        "the batch takes twice the rate (Goyal et al., 2017, for SGD). The square root suits "
        "Adam and LAMB.",
        group="Schedule",
    ),
    IntParam(
        key="rate_base_batch",
        title="Rate is for batch",
        default=256,
        minimum=1,
        maximum=65_536,
        help="The batch that the learning rate is meant for; at others it is scaled.",
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
        help="How the learning rate moves: it stays, falls in steps, exponentially or along a "
        "cosine, climbs once and falls (one cycle), or falls when the validation no longer "
        "gets better (on a plateau).",
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
        help="Epochs in which the learning rate climbs to its full size. Automatic is 3 % of "
        "the training for a cosine, 30 % for one cycle, none for the others.",
        group="Schedule",
    ),
    FloatParam(
        key="final_share",
        title="Final share",
        default=0.01,
        minimum=0.0,
        maximum=1.0,
        help="For a cosine and one cycle: the learning rate at the end as a share of the full one.",
        group="Schedule",
    ),
    FloatParam(
        key="decay_every_epochs",
        title="Fall every",
        default=10.0,
        minimum=0.0,
        is_minimum_excluded=True,
        maximum=100_000.0,
        step=1.0,
        unit="epochs",
        help="For steps and an exponential: the learning rate takes the factor in so many epochs.",
        group="Schedule",
    ),
    FloatParam(
        key="decay_factor",
        title="Factor",
        default=0.1,
        minimum=0.0,
        is_minimum_excluded=True,
        maximum=1.0,
        step=0.05,
        help="What the learning rate is multiplied with when it falls.",
        group="Schedule",
    ),
    IntParam(
        key="plateau_patience",
        title="Patience",
        default=5,
        minimum=1,
        maximum=10_000,
        unit="epochs",
        help="On a plateau: epochs without a better value after which the learning rate falls.",
        group="Schedule",
    ),
    *_SCALING,
)

KEEP: tuple[Param, ...] = (
    ChoiceParam(
        key="keep",
        title="Keep weights of",
        default="last",
        choices=("last", "best"),
        titles={"last": "the last epoch", "best": "the best epoch"},
        help="Which weights the run ends with.",
        group="Keep",
    ),
    ChoiceParam(
        key="keep_by",
        title="Best is by",
        default="val_accuracy",
        choices=("val_accuracy", "val_loss", "top_k", "loss"),
        titles={
            "val_accuracy": "val. accuracy",
            "val_loss": "val. loss",
            "top_k": "top-k",
            "loss": "training loss",
        },
        help="What tells the best epoch, ends the training early and lets the learning rate "
        "fall on a plateau: accuracy, loss or top-k accuracy of the validation, or the training's "
        "loss. Without validation, the training's own value stands in.",
        group="Keep",
    ),
    IntParam(
        key="early_stopping_patience",
        title="Stop early after",
        default=None,
        minimum=1,
        maximum=100_000,
        unit="epochs",
        is_optional=True,
        none_text="never",
        help="Ends the training after so many epochs without a better value.",
        group="Keep",
    ),
    IntParam(
        key="top_k",
        title="Top-k accuracy",
        default=1,
        minimum=1,
        maximum=1_000,
        help="With 5, the validation also counts a picture as right when its class is among "
        "the five likeliest. 1 is the plain accuracy.",
        group="Keep",
    ),
)

EXECUTION: tuple[Param, ...] = (
    ChoiceParam(
        key="precision",
        title="Precision",
        default="auto",
        choices=("auto", "float32", "bfloat16"),
        titles={"auto": "automatic"},
        help="bfloat16 is several times faster where the processor has matrix units for it; "
        "automatic takes it only there. The last layer and the loss stay in float32.",
        group="Execution",
    ),
    ChoiceParam(
        key="xla",
        title="XLA",
        default="auto",
        choices=("auto", "on", "off"),
        titles={"auto": "automatic"},
        help="Compiles the whole step into one program: slower to start, sometimes faster to run. "
        "Automatic takes what is measured to be faster.",
        group="Execution",
    ),
    IntParam(
        key="steps_per_call",
        title="Steps per call",
        default=None,
        minimum=1,
        maximum=1_000,
        is_optional=True,
        help="Steps that are computed between two looks at the values. Automatic is about an "
        "eighth of a second.",
        group="Execution",
    ),
    ChoiceParam(
        key="pipeline",
        title="Pictures are",
        default="auto",
        choices=("auto", "memory", "cached", "streamed"),
        titles={
            "auto": "automatic",
            "memory": "in memory",
            "cached": "cached on disk",
            "streamed": "read each time",
        },
        help="Where the pictures wait for their step: decoded in memory, decoded on disk, or "
        "in their files, decoded each time. Automatic keeps them in memory when they fit.",
        group="Execution",
    ),
    IntParam(
        key="threads",
        title="Threads",
        default=None,
        minimum=1,
        maximum=1_024,
        is_optional=True,
        help="Threads that share the computing of a step. Automatic is all cores.",
        group="Execution",
    ),
    ChoiceParam(
        key="sync_batch_norm",
        title="Sync batch norm",
        default="auto",
        choices=("auto", "on", "off"),
        titles={"auto": "automatic"},
        help="On several replicas: whether batch normalization goes by the whole batch, as on "
        "one device, or each replica by its part, which is faster. Automatic goes by the whole "
        "batch where a part has fewer than 32 pictures.",
        group="Execution",
    ),
)

RECIPE_PARAMS: tuple[Param, ...] = (*TRAINING, *SCHEDULE, *REGULARISATION, *KEEP, *EXECUTION)
"""All of them, in the order of the form."""
