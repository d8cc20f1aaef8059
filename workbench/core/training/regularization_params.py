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
            "mean_squared": "mean squared",
        },
        help="What training makes small. Cross-entropy is right for almost all; focal looks "
        "more at the pictures that are still wrong; mean squared compares probabilities.",
        group="Regularisation",
    ),
    FloatParam(
        key="focal_gamma",
        title="Focal gamma",
        default=2.0,
        minimum=0.0,
        maximum=20.0,
        step=0.5,
        help="For the focal loss: how strongly pictures that are already right are left aside.",
        group="Regularisation",
    ),
    FloatParam(
        key="label_smoothing",
        title="Label smoothing",
        default=0.0,
        minimum=0.0,
        maximum=1.0,
        is_maximum_excluded=True,
        step=0.05,
        help="Share of each answer that is spread over all classes, so that the network does "
        "not become too sure. 0.1 is usual; only training is measured so.",
        group="Regularisation",
    ),
    ChoiceParam(
        key="class_weights",
        title="Class weights",
        default="none",
        choices=("none", "balanced"),
        titles={"none": "none", "balanced": "balanced"},
        help="Balanced lets the pictures of rare classes count more, so that all classes "
        "count alike in training.",
        group="Regularisation",
    ),
    FloatParam(
        key="weight_decay",
        title="Weight decay",
        default=None,
        minimum=0.0,
        maximum=10.0,
        step=0.001,
        is_optional=True,
        help="Pulls the weights towards zero a little at each step. Automatic is the "
        "optimizer's own: 0.004 for AdamW and Muon, none for the others.",
        group="Regularisation",
    ),
    BoolParam(
        key="decay_biases",
        title="Decay biases",
        default=True,
        help="Weight decay pulls biases and the scales of normalizations too. Off is usually "
        "better; on is how earlier versions trained.",
        group="Regularisation",
    ),
    FloatParam(
        key="clip_norm",
        title="Clip gradients at",
        default=None,
        minimum=0.0,
        is_minimum_excluded=True,
        maximum=1e6,
        step=0.5,
        is_optional=True,
        none_text="never",
        help="Shortens the gradient of all weights together to this length where it is longer.",
        group="Regularisation",
    ),
    FloatParam(
        key="ema_decay",
        title="Average weights",
        default=None,
        minimum=0.0,
        is_minimum_excluded=True,
        maximum=1.0,
        is_maximum_excluded=True,
        step=0.001,
        is_optional=True,
        none_text="no",
        help="Keeps a moving average of the weights, which is what is validated and kept: this "
        "share of it stays at each step. 0.999 is usual.",
        group="Regularisation",
    ),
    ChoiceParam(
        key="mixing",
        title="Mix pictures",
        default="none",
        choices=("none", "mixup", "cutmix"),
        titles={"none": "no", "mixup": "mixup", "cutmix": "CutMix"},
        help="Trains on mixtures of two pictures, with the answer mixed alike: mixup fades them "
        "into each other, CutMix puts a piece of one into the other.",
        group="Regularisation",
    ),
    FloatParam(
        key="mixing_alpha",
        title="Mixing alpha",
        default=0.2,
        minimum=0.0,
        is_minimum_excluded=True,
        maximum=100.0,
        step=0.1,
        help="How far the mixtures go: near 0 mostly one of the two, 1 any share alike. The "
        "papers use 0.2 for mixup and 1 for CutMix.",
        group="Regularisation",
    ),
    FloatParam(
        key="random_erasing",
        title="Random erasing",
        default=0.0,
        minimum=0.0,
        maximum=1.0,
        step=0.05,
        help="Share of the training pictures of which a random rectangle is filled with the "
        "picture's mean colour.",
        group="Regularisation",
    ),
)
