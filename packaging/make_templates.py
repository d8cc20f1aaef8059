"""Writes the project files under resources/templates with the application's own code.

Run after changing a network or a recipe here: `python packaging/make_templates.py`. The
results are committed; tests check them against this script and the published counts.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from workbench.backbones import all_backbones, insert_backbone
from workbench.core.network.graph import Edge, Graph, Node
from workbench.core.projects.project import Choice, Project, View
from workbench.core.projects.project_file import PROJECT_SUFFIX, project_text
from workbench.core.specs import BackboneSpec
from workbench.core.storage.save import save_bytes
from workbench.core.training.recipe import TrainingRecipe

FOLDER = Path(__file__).resolve().parents[1] / "resources" / "templates"

FASHION = ("Fashion-MNIST", Choice("fashion_mnist"))
CIFAR10 = ("CIFAR-10", Choice("cifar10"))
FLOWERS = ("Flowers, 1,000 photos", Choice("flowers1000"))


class Sketch:
    """A graph drawn layer by layer: each new layer hangs below the last one."""

    def __init__(self, *shape: int) -> None:
        self.graph = Graph()
        self.folded: frozenset[str] = frozenset()
        self.last = ""
        self.add("input", shape=shape)

    def add(self, kind: str, *, after: tuple[str, ...] = (), **params: Any) -> str:
        """Adds a layer below `after` (or the last one) and returns its id."""
        node = Node(self.graph.new_id(), kind, self.graph.new_name(kind), params)
        graph = self.graph.with_node(node)
        sources = after or ((self.last,) if self.last else ())
        for port, source in enumerate(sources):
            graph = graph.with_edge(Edge(source, node.id, port))
        self.graph, self.last = graph, node.id
        return node.id

    def backbone(self, spec: BackboneSpec) -> str:
        """A pretrained network, frozen, drawn as one card."""
        inserted = insert_backbone(self.graph, spec, self.last, spec.input_shape)
        self.graph, self.last = inserted.graph, inserted.last
        self.folded |= {inserted.group}
        return self.last

    def conv(self, filters: int, size: int = 3, **params: Any) -> str:
        """A convolution that keeps height and width, with ReLU by default."""
        defaults = {"padding": "same", "activation": "relu"}
        return self.add(
            "conv2d", filters=filters, kernel_size=(size, size), **{**defaults, **params}
        )

    def pool(self) -> str:
        """Max pooling that halves height and width."""
        return self.add("max_pooling2d", pool_size=(2, 2))

    def dense(self, units: int, activation: str = "relu", **params: Any) -> str:
        """A fully connected layer."""
        return self.add("dense", units=units, activation=activation, **params)


def cifar10_convnet() -> tuple[Project, dict[str, Any]]:
    """The convnet of the Habr tutorial on TPUs; input is raw pixels, 0 to 255.

    At a constant learning rate its accuracy goes up and down by half a point from epoch to
    epoch (tests/proofs/RESULTS.md), so the best epoch is kept. As in the
    tutorial it is measured on the test images: a figure to reproduce, slightly optimistic.
    The card says so, in `differs`.
    """
    net = Sketch(32, 32, 3)
    net.add("batch_normalization")
    net.conv(32)
    net.conv(32)
    net.pool()
    net.add("dropout", rate=0.25)
    net.add("batch_normalization")
    net.conv(64)
    net.conv(64, padding="valid")
    net.pool()
    net.add("dropout", rate=0.25)
    net.add("flatten")
    net.dense(512)
    net.add("dropout", rate=0.5)
    net.dense(10, "softmax")
    return _project(
        net,
        CIFAR10,
        title="CIFAR-10 convnet",
        summary="10 classes · 32 × 32 color · from the Habr tutorial",
        note="published accuracy 80.8%",
        differs="keeps its best epoch, chosen on the test images",
        recipe=TrainingRecipe(batch_size=1024, epochs=50, validation="test", keep="best"),
    )


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
    return _project(
        net,
        FASHION,
        title="Fashion-MNIST convnet",
        summary="10 kinds of clothing · 28 × 28 grayscale · works offline",
        note="88% in about 1 minute",
        differs="the last layer starts at zero",
        recipe=TrainingRecipe(batch_size=1000, epochs=5, steps_per_epoch=60),
    )


def flowers_dense() -> tuple[Project, dict[str, Any]]:
    """Dense layers only."""
    net = _flowers()
    net.add("flatten")
    net.dense(500)
    net.dense(50)
    net.dense(5, "softmax")
    return _flower_project(
        net,
        title="Flowers (dense)",
        summary="5 flowers · 192 × 192 · from the Keras TPU codelab: dense layers only",
        note="a baseline without convolutions",
        differs="a tenth of Adam's usual learning rate",
        recipe=TrainingRecipe(learning_rate=0.0001, batch_size=32, epochs=15, keep="best"),
    )


def flowers_convnet() -> tuple[Project, dict[str, Any]]:
    """Plain convolutions."""
    net = _flowers()
    net.conv(24)
    net.conv(24)
    net.pool()
    net.conv(12)
    net.pool()
    net.conv(6)
    net.add("flatten")
    net.dense(5, "softmax")
    return _flower_project(
        net,
        title="Flowers (convnet)",
        summary="5 flowers · 192 × 192 · from the Keras TPU codelab: first convolutions",
        note="overfits",
        recipe=TrainingRecipe(batch_size=32, epochs=15, keep="best"),
    )


def flowers_squeeze() -> tuple[Project, dict[str, Any]]:
    """Convolutions of 3×3 and 1×1 in turn."""
    net = _flowers()
    for _ in range(4):
        net.conv(32)
        net.conv(32, 1)
        net.pool()
    net.conv(16)
    net.conv(8, 1)
    net.add("flatten")
    net.dense(5, "softmax")
    return _flower_project(
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
    return _flower_project(
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
    return _flower_project(
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


def cifar10_speedrun() -> tuple[Project, dict[str, Any]]:
    """To the published accuracy in four epochs, made for processors with AMX.

    What made it fast: the first convolution halves the picture at once; all channel counts
    are multiples of 16, which fill the matrix units; pooling comes before normalization and
    ReLU, which then have a quarter of the values to go through. Batch normalization, weight
    decay and one cycle let SGD take large steps, small shifts keep few epochs from
    overfitting, and label smoothing steadies it. Seeds 1 and 2 ended at 81.9% and 81.7% with all
    training images, seed 7 at 81.7% with 5% of them held out for validation; a fifth epoch adds
    about one point.
    """
    net = Sketch(32, 32, 3)
    net.add("random_flip", mode="horizontal")
    net.add(
        "random_translation", height_factor=1 / 16, width_factor=1 / 16, interpolation="nearest"
    )
    net.add("rescaling", scale=1 / 64, offset=-2)
    net.conv(32, 4, strides=(2, 2), kernel_initializer="he_normal")
    _fast_norm(net, 64, is_pooled=True)
    _fast_norm(net, 64)
    _fast_norm(net, 128, is_pooled=True)
    _fast_norm(net, 128)
    net.pool()
    net.add("flatten")
    net.dense(10, "softmax")
    return _project(
        net,
        CIFAR10,
        title="CIFAR-10, fast",
        summary="10 classes · 32 × 32 color · trained in 4 epochs",
        note="over 80.8%",
        recipe=TrainingRecipe(
            optimizer="sgd",
            nesterov=True,
            learning_rate=0.6,
            weight_decay=0.005,
            schedule="one_cycle",
            label_smoothing=0.1,
            batch_size=256,
            epochs=4,
            validation_share=0.05,
        ),
    )


def _fast_norm(net: Sketch, filters: int, *, is_pooled: bool = False) -> None:
    """Convolution, max pooling where wanted, batch normalization, ReLU."""
    net.conv(filters, activation="linear", use_bias=False, kernel_initializer="he_normal")
    if is_pooled:
        net.pool()
    net.add("batch_normalization", momentum=0.9)
    net.add("relu")


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
    return _project(
        net,
        FASHION,
        title="LeNet-5",
        summary="10 kinds of clothing · 28 × 28 grayscale · the classic from 1998",
        note="tanh and average pooling",
        recipe=TrainingRecipe(batch_size=128, epochs=12, keep="best"),
    )


def small_resnet() -> tuple[Project, dict[str, Any]]:
    """Three residual blocks after He and others, 2015."""
    net = Sketch(32, 32, 3)
    net.add("random_flip", mode="horizontal")
    net.add("random_translation", height_factor=0.125, width_factor=0.125)
    net.add("rescaling", scale=1 / 255)
    _conv_norm(net, 32)
    net.add("relu")
    for filters, stride in ((32, 1), (64, 2), (128, 2)):
        _residual_block(net, filters, stride)
    net.add("global_average_pooling2d")
    net.dense(10, "softmax")
    return _project(
        net,
        CIFAR10,
        title="Small ResNet",
        summary="10 classes · 32 × 32 color · residual connections",
        note="batch normalization, augmentation",
        recipe=TrainingRecipe(
            learning_rate=0.002, schedule="cosine", batch_size=128, epochs=30, keep="best"
        ),
    )


def _conv_norm(net: Sketch, filters: int, size: int = 3, stride: int = 1) -> str:
    strides = (stride, stride)
    net.conv(filters, size, activation="linear", use_bias=False, strides=strides)
    return net.add("batch_normalization")


def _residual_block(net: Sketch, filters: int, stride: int) -> None:
    """Two convolutions beside a shortcut; the shortcut is convolved where the size changes."""
    start = net.last
    _conv_norm(net, filters, stride=stride)
    net.add("relu")
    main = _conv_norm(net, filters)
    shortcut = start
    if stride != 1:
        net.last = start
        shortcut = _conv_norm(net, filters, size=1, stride=stride)
    net.add("add", after=(main, shortcut))
    net.add("relu")


def _flowers() -> Sketch:
    net = Sketch(192, 192, 3)
    net.add("rescaling", scale=1 / 255)
    return net


def _flower_project(net: Sketch, **words: Any) -> tuple[Project, dict[str, Any]]:
    return _project(net, FLOWERS, **words)


def _project(
    net: Sketch,
    dataset: tuple[str, Choice],
    *,
    title: str,
    summary: str,
    note: str,
    recipe: TrainingRecipe,
    differs: str = "",
) -> tuple[Project, dict[str, Any]]:
    dataset_title, choice = dataset
    view = View(folded=net.folded)
    project = Project(net.graph, recipe, choice, view=view, title=title, summary=summary)
    words = {"note": note, "dataset_title": dataset_title}
    return project, words | ({"differs": differs} if differs else {})


TEMPLATES = (
    fashion_convnet,
    flowers_transfer,
    cifar10_convnet,
    cifar10_speedrun,
    flowers_gap,
    small_resnet,
    lenet5,
    flowers_squeeze,
    flowers_convnet,
    flowers_dense,
)
"""In the order of the welcome page."""


def template_texts() -> dict[str, str]:
    """The text of each template file, by key."""
    texts = {}
    for order, make in enumerate(TEMPLATES, start=1):
        project, words = make()
        extra = {"template": {"order": order, **words}}
        whole = Project(
            project.graph,
            project.recipe,
            project.dataset,
            view=project.view,
            title=project.title,
            summary=project.summary,
            extra=extra,
        )
        texts[make.__name__] = project_text(whole)
    return texts


def main() -> None:
    """Writes all files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=FOLDER)
    folder = parser.parse_args().folder
    for key, text in template_texts().items():
        save_bytes(folder / f"{key}{PROJECT_SUFFIX}", text.encode())
        print(f"wrote {key}{PROJECT_SUFFIX}")


if __name__ == "__main__":
    main()
