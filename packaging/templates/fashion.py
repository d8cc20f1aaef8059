"""The templates for Fashion-MNIST."""

from __future__ import annotations

from typing import Any

from templates.sketch import Sketch, project

from workbench.core.projects.project import Choice, Project
from workbench.core.training.recipe import TrainingRecipe

FASHION = ("Fashion-MNIST", Choice("fashion_mnist"))


def fashion_convnet() -> tuple[Project, dict[str, Any]]:
    """One convolution and one dense layer; input is raw pixels, 0 to 255.

    Raw pixels through random weights start at a large loss, and 300 steps are too few to
    forget that (figures with and without: tests/proofs/RESULTS.md). A last layer that starts
    at zero starts at the loss of a guess.
    """
    net = Sketch(28, 28, 1)
    net.conv(64, padding="valid", activation="linear")
    net.add("max_pooling2d", pool_size=(2, 2), strides=(2, 2))
    net.add("relu")
    net.add("flatten")
    net.dense(10, "softmax", kernel_initializer="zeros")
    return project(
        net,
        FASHION,
        title="Fashion-MNIST convnet",
        summary="10 kinds of clothing · 28 × 28 grayscale · works offline",
        note="88% in about 1 minute",
        differs="the last layer starts at zero",
        recipe=TrainingRecipe(batch_size=1000, epochs=5, steps_per_epoch=60),
    )


def lenet5() -> tuple[Project, dict[str, Any]]:
    """LeCun and others, 1998."""
    net = Sketch(28, 28, 1)
    net.add("rescaling", scale=1 / 255)
    net.conv(6, 5, activation="tanh")
    net.add("average_pooling2d", pool_size=(2, 2))
    net.conv(16, 5, padding="valid", activation="tanh")
    net.add("average_pooling2d", pool_size=(2, 2))
    net.add("flatten")
    net.dense(120, "tanh")
    net.dense(84, "tanh")
    net.dense(10, "softmax")
    return project(
        net,
        FASHION,
        title="LeNet-5",
        summary="10 kinds of clothing · 28 × 28 grayscale · the classic from 1998",
        note="tanh and average pooling",
        recipe=TrainingRecipe(batch_size=128, epochs=12, keep="best"),
    )
