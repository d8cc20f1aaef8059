"""The templates for flower photos: the networks of the Keras TPU codelab, and a pretrained one."""

from __future__ import annotations

from typing import Any

from templates.sketch import Sketch, project

from workbench.backbones import all_backbones
from workbench.core.projects.project import Choice, Project
from workbench.core.training.recipe import TrainingRecipe

FLOWERS = ("Flowers, 1,000 photos", Choice("flowers1000"))


def flowers_dense() -> tuple[Project, dict[str, Any]]:
    """Dense layers only."""
    net = _codelab_net()
    net.add("flatten")
    net.dense(500)
    net.dense(50)
    net.dense(5, "softmax")
    return _flowers(
        net,
        title="Flowers (dense)",
        summary="5 flowers · 192 × 192 · from the Keras TPU codelab: dense layers only",
        note="a baseline without convolutions",
        differs="a tenth of Adam's usual learning rate",
        recipe=TrainingRecipe(learning_rate=0.0001, batch_size=32, epochs=15, keep="best"),
    )


def flowers_convnet() -> tuple[Project, dict[str, Any]]:
    """Plain convolutions."""
    net = _codelab_net()
    net.conv(24)
    net.conv(24)
    net.pool()
    net.conv(12)
    net.pool()
    net.conv(6)
    net.add("flatten")
    net.dense(5, "softmax")
    return _flowers(
        net,
        title="Flowers (convnet)",
        summary="5 flowers · 192 × 192 · from the Keras TPU codelab: first convolutions",
        note="overfits",
        recipe=TrainingRecipe(batch_size=32, epochs=15, keep="best"),
    )


def flowers_squeeze() -> tuple[Project, dict[str, Any]]:
    """Convolutions of 3×3 and 1×1 in turn."""
    net = _codelab_net()
    for _ in range(4):
        net.conv(32)
        net.conv(32, 1)
        net.pool()
    net.conv(16)
    net.conv(8, 1)
    net.add("flatten")
    net.dense(5, "softmax")
    return _flowers(
        net,
        title="Flowers (1×1 convolutions)",
        summary="5 flowers · 192 × 192 · from the Keras TPU codelab: 1×1 convolutions",
        note="better than plain convolutions, with fewer parameters",
        recipe=TrainingRecipe(batch_size=32, epochs=30, schedule="cosine", keep="best"),
    )


def flowers_transfer() -> tuple[Project, dict[str, Any]]:
    """A new head on a frozen network that was trained on ImageNet.

    The rate is high for Adam, but a head is one convex layer, and with a tenth of it 30 epochs of
    a few hundred photos are too short. The last epoch is kept: a hundred validation images choose
    worse than chance does among epochs that differ by less than a percent.
    """
    spec = all_backbones()["efficientnet_lite0"]
    net = Sketch(*spec.input_shape)
    net.backbone(spec)
    net.add("dropout", rate=0.2)
    net.dense(5, "softmax")
    return _flowers(
        net,
        title="Flowers (transfer learning)",
        summary="5 flowers · 224 × 224 · pretrained EfficientNet-Lite0",
        note="over 85% in seconds",
        recipe=TrainingRecipe(
            learning_rate=0.01,
            schedule="cosine",
            batch_size=32,
            epochs=30,
        ),
    )


def flowers_gap() -> tuple[Project, dict[str, Any]]:
    """Convolutions, global average pooling, and augmentation in the input pipeline."""
    net = Sketch(192, 192, 3)
    net.add("random_flip", mode="horizontal")
    net.add("random_rotation", factor=0.1)
    net.add("random_zoom", height_factor=0.25)
    net.add("random_translation", height_factor=0.12, width_factor=0.12)
    net.add("random_contrast", factor=0.2)
    net.add("random_brightness", factor=0.15)
    net.add("rescaling", scale=1 / 255)
    net.conv(16)
    for filters in (30, 60, 90, 110):
        net.conv(filters)
        net.pool()
    net.conv(130)
    net.add("global_average_pooling2d")
    net.dense(90)
    net.dense(5, "softmax")
    return _flowers(
        net,
        title="Flowers (global pooling)",
        summary="5 flowers · 192 × 192 · from the Keras TPU codelab",
        note="68% with 1,000 photos, over 80% with all 3,670",
        recipe=TrainingRecipe(
            learning_rate=0.0015,
            schedule="cosine",
            batch_size=32,
            epochs=60,
            validation_share=0.05,
        ),
    )


def _codelab_net() -> Sketch:
    """The input of the codelab's networks, scaled to 0..1."""
    net = Sketch(192, 192, 3)
    net.add("rescaling", scale=1 / 255)
    return net


def _flowers(net: Sketch, **words: Any) -> tuple[Project, dict[str, Any]]:
    return project(net, FLOWERS, **words)
