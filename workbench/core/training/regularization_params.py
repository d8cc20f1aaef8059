"""The parameters of a recipe that keep a network from learning by heart, and its loss."""

from __future__ import annotations

from workbench.core.params import BoolParam, ChoiceParam, FloatParam, Param

REGULARISATION: tuple[Param, ...] = (
    ChoiceParam(
        key="loss",
        title="Loss",
        default="cross_entropy",
        choices=("cross_entropy", "focal", "mean_squared"),
        titles={
            "cross_entropy": "cross-entropy",
            "focal": "focal",
            "mean_squared": "MSE",
        },
        help="The function that training minimizes. Cross-entropy is the default for "
        "classification; focal loss focuses on hard examples; MSE (mean "
        "squared error) compares probabilities.",
        group="Regularization",
    ),
    FloatParam(
        key="focal_gamma",
        title="Focal gamma",
        default=2.0,
        minimum=0.0,
        maximum=20.0,
        step=0.5,
        help="For focal loss: how strongly well-classified examples are down-weighted.",
        group="Regularization",
    ),
    FloatParam(
        key="label_smoothing",
        title="Label smoothing",
        default=0.0,
        minimum=0.0,
        maximum=1.0,
        is_maximum_excluded=True,
        step=0.05,
        help="Fraction of each label that is spread over all classes, against "
        "overconfidence. 0.1 is common. Applied to the training loss only.",
        group="Regularization",
    ),
    ChoiceParam(
        key="class_weights",
        title="Class weights",
        default="none",
        choices=("none", "balanced"),
        titles={"none": "none", "balanced": "balanced"},
        help="Balanced: images of rare classes get a higher weight in the loss, so that all "
        "classes count equally.",
        group="Regularization",
    ),
    FloatParam(
        key="weight_decay",
        title="Weight decay",
        default=None,
        minimum=0.0,
        maximum=10.0,
        step=0.001,
        is_optional=True,
        help="Shrinks the weights at each step. Automatic is the optimizer's default: 0.004 "
        "for AdamW and Muon, none for the others.",
        group="Regularization",
    ),
    BoolParam(
        key="decay_biases",
        title="Decay biases",
        default=True,
        help="Applies weight decay to biases and normalization parameters too. Off is "
        "usually better; earlier versions of Workbench had it on.",
        group="Regularization",
    ),
    FloatParam(
        key="clip_norm",
        title="Gradient clipping",
        default=None,
        minimum=0.0,
        is_minimum_excluded=True,
        maximum=1e6,
        step=0.5,
        is_optional=True,
        none_text="off",
        help="Maximum global norm of the gradients; larger gradients are scaled down.",
        group="Regularization",
    ),
    FloatParam(
        key="ema_decay",
        title="Weight averaging (EMA)",
        default=None,
        minimum=0.0,
        is_minimum_excluded=True,
        maximum=1.0,
        is_maximum_excluded=True,
        step=0.001,
        is_optional=True,
        none_text="off",
        help="Decay of an exponential moving average of the weights, which is what is "
        "validated and saved. 0.999 is common.",
        group="Regularization",
    ),
    ChoiceParam(
        key="mixing",
        title="Mixup / CutMix",
        default="none",
        choices=("none", "mixup", "cutmix"),
        titles={"none": "off", "mixup": "mixup", "cutmix": "CutMix"},
        help="Trains on mixtures of two images and their labels: mixup blends them, CutMix "
        "pastes a patch of one into the other.",
        group="Regularization",
    ),
    FloatParam(
        key="mixing_alpha",
        title="Mixing alpha",
        default=0.2,
        minimum=0.0,
        is_minimum_excluded=True,
        maximum=100.0,
        step=0.1,
        help="Parameter of the beta distribution of the mixing ratio: near 0 mostly one "
        "image, 1 uniform. The papers use 0.2 for mixup and 1 for CutMix.",
        group="Regularization",
    ),
    FloatParam(
        key="random_erasing",
        title="Random erasing",
        default=0.0,
        minimum=0.0,
        maximum=1.0,
        step=0.05,
        help="Probability that a random rectangle of a training image is filled with the "
        "mean color of the image.",
        group="Regularization",
    ),
)
