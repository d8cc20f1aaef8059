"""A project to start from for a data set: a network, a split and a recipe that fit what is there.

Decided here alone, by the number and the size of the images: a head on a frozen backbone, or a
template trained from scratch. `counts` looks at a folder without opening an image's pixels,
`transfer` makes a network on a pretrained one, and `choose` decides. `augmentation` suggests
augmentation layers by the table `resources/augmentation.toml`.
"""

from __future__ import annotations

import math
import tomllib
from dataclasses import dataclass, replace
from enum import Enum, auto
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any

import msgspec
import numpy as np

from workbench.assets import resource_path
from workbench.backbones import all_backbones, insert_backbone
from workbench.core.checks.analysis import analyse
from workbench.core.checks.images import DatasetFacts as ImageFacts
from workbench.core.checks.images import input_shape
from workbench.core.format import count, plural, share
from workbench.core.network.graph import Edge, Graph, Node
from workbench.core.network.roles import input_node, specs_of, with_num_outputs
from workbench.core.params import Params
from workbench.core.projects.project import Choice, Project, View
from workbench.core.specs import BackboneSpec, BundledWeights, Role, Shape
from workbench.core.training.recipe import TrainingRecipe
from workbench.datasets import sampled_shapes
from workbench.datasets.folder import SPEC as FOLDER
from workbench.errors import GraphError
from workbench.layers import all_layers
from workbench.pictures.header_size import usual_channels
from workbench.protocol.describe_data import DataDescription
from workbench.templates import Template, find_template, list_templates

# augmentation --------------------------------------------------------------------------------
# Augmentation that suits a data set, by the number and the kind of its images. What is suggested
# when, and why, is a table: `resources/augmentation.toml`.


class _Rule(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A row of the table; None fits any."""

    reason: str
    layers: list[dict[str, Any]]
    channels: int | None = None
    largest_side: int | None = None
    up_to: int | None = None

    def fits(self, num_images: int, shape: Shape) -> bool:
        height, width, channels = shape
        return (
            self.channels in {None, channels}
            and (self.largest_side is None or max(height, width) <= self.largest_side)
            and (self.up_to is None or num_images <= self.up_to)
        )


@dataclass(frozen=True)
class AugmentationAdvice:
    """A chain of augmentation layers.

    Attributes:
        layers: Key and values of each, in order.
        reason: Why these, in one sentence.
    """

    layers: tuple[tuple[str, Params], ...]
    reason: str


def suggest_augmentation(num_images: int, shape: Shape) -> AugmentationAdvice:
    """What suits so many training images, as (height, width, channels) of the network's input."""
    rule = next(each for each in _rules() if each.fits(num_images, shape))
    layers = tuple(
        (str(each["key"]), {name: value for name, value in each.items() if name != "key"})
        for each in rule.layers
    )
    words = rule.reason.format(images=plural(num_images, "training image"))
    return AugmentationAdvice(layers, words)


@cache
def _rules() -> list[_Rule]:
    text = resource_path("augmentation.toml").read_text(encoding="utf-8")
    return msgspec.convert(tomllib.loads(text)["rule"], list[_Rule])


# counts --------------------------------------------------------------------------------------
# How many images a folder has in each class, and how large they are.


@dataclass(frozen=True)
class FolderCount:
    """Class folders and their images.

    Attributes:
        pictures: Number of training images by class.
        short_side: Median of the shorter sides of some images, in pixels; None where no size could
            be read.
        num_channels: 1 where all of them are grayscale, else 3.
    """

    pictures: dict[str, int]
    short_side: float | None = None
    num_channels: int = 3

    @property
    def total(self) -> int:
        """Images in all classes."""
        return sum(self.pictures.values())


def count_folder(params: Params) -> FolderCount:
    """Counts the training images of each class, and reads the sizes of some.

    Args:
        params: Those of an image folder: which, and how it is read.

    Raises:
        DatasetError: fewer than two class folders with images.
    """
    data = FOLDER.load(_Listing(), params)
    numbers = np.bincount(data.train.labels, minlength=len(data.class_names)).tolist()
    shapes = sampled_shapes(data)
    side = median(min(shape[:2]) for shape in shapes) if shapes else None
    pictures = dict(zip(data.class_names, numbers, strict=True))
    return FolderCount(pictures, side, usual_channels(shapes))


class _Listing:
    """A LoadContext for names of files, which are listed before a message could be read."""

    cache_folder = ""

    def progress(self, text: str, fraction: float | None = None) -> None:
        """Shows nothing."""

    def check_cancelled(self) -> None:
        """Goes on."""

    def keras(self) -> Any:
        """Is never called: no folder needs TensorFlow."""
        raise NotImplementedError


# transfer ------------------------------------------------------------------------------------
# A network on a pretrained one: frozen, with a head for the classes of the data set.

SMALLEST_SIDE = 48
"""Shorter side, in pixels, of the images that are worth enlarging for a pretrained network."""

_MOST_MULTIPLY_ADDS = 1.6e12
"""Multiply-adds of the frozen layers for all images together: about 20 s on two cores that compute
in bfloat16. The limit does not depend on this computer, so that a folder gives the same project
everywhere."""

_MOST_BYTES = 2e9
"""Bytes of all images together, which are kept as they are fitted to the input."""

_SIDE_STEP = 32
_LARGEST_TO_USUAL = 10 / 7


def backbone_for(num_images: int) -> BackboneSpec:
    """The largest bundled backbone that computes the features of so many images within seconds, or
    else the smallest.
    """
    specs = [s for s in all_backbones().values() if isinstance(s.weights, BundledWeights)]
    smallest, *larger = sorted(specs, key=multiply_adds)
    affordable = [s for s in larger if num_images * multiply_adds(s) <= _MOST_MULTIPLY_ADDS]
    return affordable[-1] if affordable else smallest


def input_shape_for(spec: BackboneSpec, num_images: int) -> Shape:
    """Height, width and channels of the images that a frozen backbone is used with.

    Pooled features of images somewhat larger than those that a network was trained on classify
    better (Touvron et al. 2019, "Fixing the train-test resolution discrepancy";
    `packaging/bench.sh input_sizes` compares): the largest for which so many images, if their
    number is known, need only seconds and little of the disk.
    """
    usual, _, channels = spec.input_shape
    if not num_images:
        return spec.input_shape
    for side in range(int(usual * _LARGEST_TO_USUAL), usual, -_SIDE_STEP):
        is_computed_soon = num_images * multiply_adds(spec, side) <= _MOST_MULTIPLY_ADDS
        if is_computed_soon and num_images * channels * side**2 <= _MOST_BYTES:
            return (side, side, channels)
    return spec.input_shape


def with_backbone(project: Project, spec: BackboneSpec, num_images: int = 0) -> Project:
    """A project with another backbone in place of its only one, folded, and the input of the size
    that is good for it and so many images; 0 where their number is not known.

    Raises:
        GraphError: the network has no group of pretrained layers between its input and a head.
    """
    graph, start = project.graph, input_node(project.graph, all_layers())
    old = {node.group for node in graph.nodes.values() if node.group and node.pretrained}
    if start is None or len(old) != 1:
        raise GraphError("The network does not have exactly one backbone.", where=project.title)
    members = {key for key, node in graph.nodes.items() if node.group in old}
    outgoing = [e for e in graph.edges if e.source in members and e.target not in members]
    (before,) = {e.source for e in graph.edges if e.target in members and e.source not in members}
    rest = graph.without_nodes(members)
    shape = input_shape_for(spec, num_images)
    rest = rest.with_params(start.id, **{_shape_key(rest, start.id): shape})
    inserted = insert_backbone(rest, spec, before, shape)
    whole = inserted.graph
    for edge in outgoing:
        whole = whole.with_edge(Edge(inserted.last, edge.target, edge.port))
    return replace(project, graph=whole, view=View(folded=frozenset({inserted.group})))


@cache
def multiply_adds(spec: BackboneSpec, side: int = 0) -> int:
    """Multiply-adds of one image, which is square, of the backbone's usual size if not another."""
    layers = all_layers()
    start = specs_of(layers, Role.INPUT)[0]
    shape = (side, side, spec.input_shape[-1]) if side else spec.input_shape
    node = Node("n1", start.key, start.key, {start.params[0].key: shape})
    inserted = insert_backbone(Graph.of([node]), spec, node.id, shape)
    return analyse(inserted.graph, layers, recipe=TrainingRecipe()).costs.multiply_adds


def _shape_key(graph: Graph, node_id: str) -> str:
    return all_layers()[graph.nodes[node_id].kind].params[0].key


# choose --------------------------------------------------------------------------------------
# Choice of network, split and recipe for a data set, with the reasons.

_FROM_SCRATCH = "flowers_gap"
_TRANSFER = "flowers_transfer"
_BATCHES_PER_EPOCH = 20
_MAX_BATCH = 64
_STEPS_WANTED = 3_000
_EPOCHS = (15, 60)
_VALIDATED_PER_CLASS = 10
_MAX_VALIDATION_SHARE = 0.2
_IMAGE_RANK = 3


@dataclass(frozen=True)
class Start:
    """A project to start from.

    Attributes:
        project: Trains with its settings as they are.
        template: Key of the template it was made of.
        why: Why this network, in one sentence.
        counts: What the images are, in words: it depends on edits, so it is no part of `why`.
        backbone: Key of the pretrained network that it trains a head on; "" for none.
    """

    project: Project
    template: str
    why: str
    counts: str = ""
    backbone: str = ""

    @property
    def is_pretrained(self) -> bool:
        """Whether it trains a head on a pretrained network."""
        return bool(self.backbone)

    @property
    def reason(self) -> str:
        """Why this network for these images, in one sentence."""
        return f"{self.counts}: {self.why}" if self.counts else self.why

    @property
    def summarized(self) -> Project:
        """The project with the reason as its summary, without counts that edits change."""
        return replace(self.project, summary=self.why)


@dataclass(frozen=True)
class DataFacts:
    """What a start is chosen by.

    Attributes:
        choice: The data set.
        num_classes, num_images: What it has; 0 images where that is not known.
        shape: Height, width and channels of its images; empty where they differ in size.
        short_side: Typical shorter side of an image, in pixels; None where it is not known.
        num_channels: 1 where all images are grayscale, else 3.
        is_listed: No image was opened: some may be unreadable.
    """

    choice: Choice
    num_classes: int
    num_images: int = 0
    shape: Shape = ()
    short_side: float | None = None
    num_channels: int = 3
    is_listed: bool = False

    @classmethod
    def of(cls, choice: Choice, found: DataDescription) -> DataFacts:
        """What a worker has found in a data set."""
        return cls(
            choice,
            num_classes=len(found.classes),
            num_images=found.num_train + (found.num_test if found.is_test_split_off else 0),
            shape=tuple(found.shape),
            short_side=min(found.typical_size[:2], default=None),
            num_channels=found.num_channels,
        )

    @property
    def input_shape(self) -> Shape:
        """(height, width, channels) of a network without a pretrained one; empty where no size is
        known.
        """
        side = round(self.short_side or 0)
        typical = (side, side, self.num_channels) if side else None
        return input_shape(ImageFacts(self.shape or None, None, "", typical=typical)) or ()

    @property
    def words(self) -> str:
        """The counts: "5 classes, 3,610 images", or "image files" where none was opened."""
        classes = plural(self.num_classes, "class", "classes")
        if not self.num_images:
            return classes
        if self.is_listed:
            return f"{classes}, {plural(self.num_images, 'image file')} (not opened yet)"
        return f"{classes}, {plural(self.num_images, 'image')}"


class BackbonePolicy(Enum):
    """How a pretrained network is chosen where none is named."""

    BY_DATA = auto()


BY_DATA = BackbonePolicy.BY_DATA
"""By number and size of the images: the one that fits them, or none where they are small."""

Wish = BackboneSpec | BackbonePolicy | None
"""Which pretrained network a project starts on; None for none."""


def start_for_folder(choice: Choice, wish: Wish = BY_DATA) -> Start:
    """A project for a folder of class folders, which is read as the choice says.

    Raises:
        DatasetError: the folder is no data set.
    """
    facts = folder_facts(choice)
    start = start_on(facts, usual_backbone(facts) if wish is BY_DATA else wish)
    title = Path(facts.choice.params[FOLDER.source_param]).name
    return replace(start, project=replace(start.summarized, title=title))


def folder_facts(choice: Choice) -> DataFacts:
    """What can be known of a folder of class folders without decoding an image.

    Raises:
        DatasetError: the folder is no data set.
    """
    found = count_folder(choice.params)
    folder = Path(choice.params[FOLDER.source_param]).expanduser().absolute()
    choice = replace(choice, params={**choice.params, FOLDER.source_param: str(folder)})
    sizes = found.short_side, found.num_channels
    return DataFacts(choice, len(found.pictures), found.total, (), *sizes, is_listed=True)


def start_for_template_of(choice: Choice) -> Start | None:
    """The first template for a bundled or published data set; None where there is none."""
    for template in list_templates():
        if template.project.dataset.key == choice.key != FOLDER.key:
            why = f"{template.title}, made for {template.dataset_title}."
            return Start(template.project, template.key, why)
    return None


def start_for_data(facts: DataFacts, wish: Wish = BY_DATA) -> Start:
    """A project for a data set whose images were looked at; without a pretrained network, the
    template with the input of the nearest size.
    """
    if spec := usual_backbone(facts) if wish is BY_DATA else wish:
        return start_on(facts, spec)
    shape = facts.input_shape
    templates = sorted(_whole_templates(), key=lambda each: _size_difference(each, shape))
    for template in templates:
        project = _fitted(template.project, facts)
        if analyse(project.graph, all_layers(), recipe=project.recipe).is_trainable:
            break
    project = replace(project, recipe=project.recipe.with_values(split="content"))
    words = " × ".join(map(str, facts.shape)) or "different sizes"
    classes = plural(facts.num_classes, "class", "classes")
    return Start(project, template.key, f"{template.title}.", f"{words}, {classes}")


def usual_backbone(facts: DataFacts) -> BackboneSpec | None:
    """The pretrained network that fits so many images; None where they are too small for one."""
    return backbone_for(facts.num_images) if _is_large(facts) else None


def start_on(facts: DataFacts, spec: BackboneSpec | None) -> Start:
    """A project for own images with one pretrained network, or with none: with settings for so many
    images, and enough of them held out for validation.
    """
    start = _from_scratch(facts) if spec is None else _pretrained(facts, spec)
    recipe = start.project.recipe
    held_out = _validation_share(facts, recipe)
    recipe = recipe.with_values(validation_share=held_out, split="content")
    return replace(start, project=replace(start.project, title="", summary="", recipe=recipe))


def _is_large(facts: DataFacts) -> bool:
    """Whether the images are large enough for a pretrained network; they are where nothing else is
    known.
    """
    side = min(facts.shape[:2]) if facts.shape else facts.short_side
    return side is None or side >= SMALLEST_SIDE


def _pretrained(facts: DataFacts, spec: BackboneSpec) -> Start:
    project = with_backbone(find_template(_TRANSFER).project, spec, facts.num_images)
    project = replace(
        project,
        graph=with_num_outputs(project.graph, all_layers(), facts.num_classes),
        dataset=facts.choice,
    )
    height, width, _ = input_shape_for(spec, facts.num_images)
    why = (
        f"{spec.title}, pretrained and frozen, with a new head, because a network "
        f"trained from scratch needs far more images; input {height} × {width}."
    )
    return Start(project, _TRANSFER, why, facts.words, spec.key)


def _from_scratch(facts: DataFacts) -> Start:
    """The template for photos, or for small images the one of the nearest size."""
    if not _is_large(facts):
        shape = facts.input_shape
        template = min(_whole_templates(), key=lambda each: _size_difference(each, shape))
        project = _fitted(template.project, facts)
    else:
        template = find_template(_FROM_SCRATCH)
        project = _fitted(template.project, replace(facts, shape=(), short_side=None))
    batch = max(8, min(_MAX_BATCH, facts.num_images // _BATCHES_PER_EPOCH))
    low, high = _EPOCHS
    epochs = max(low, min(high, _STEPS_WANTED // max(1, facts.num_images // batch)))
    recipe = project.recipe.with_values(
        batch_size=batch, epochs=epochs, steps_per_epoch=None, keep="best", validation="split"
    )
    why = (
        f"{template.title} from scratch, batch {count(batch)}, "
        f"{plural(epochs, 'epoch')}, {share(_validation_share(facts, recipe))} for validation."
    )
    return Start(replace(project, recipe=recipe), template.key, why, facts.words)


def _whole_templates() -> list[Template]:
    """The templates that train all their layers."""
    return [each for each in list_templates() if each.key != _TRANSFER]


def _fitted(project: Project, facts: DataFacts) -> Project:
    graph = with_num_outputs(project.graph, all_layers(), facts.num_classes)
    start = input_node(graph, all_layers())
    if start is not None and len(facts.input_shape) == _IMAGE_RANK:
        graph = graph.with_params(start.id, shape=facts.input_shape)
    recipe = project.recipe
    if recipe.validation == "test":  # a published figure is reproduced so; nothing else is
        recipe = recipe.with_values(validation="split")
    project = replace(project, graph=graph, dataset=facts.choice, recipe=recipe)
    return replace(project, title="", summary="")


def _size_difference(template: Template, shape: Shape) -> float:
    """How far the template's images are from others in size, as |log| of the ratio of sides."""
    start = input_node(template.project.graph, all_layers())
    if start is None or len(shape) != _IMAGE_RANK:
        return 0.0
    sides = zip(start.params["shape"][:2], shape[:2], strict=True)
    return sum(abs(math.log(mine / theirs)) for mine, theirs in sides)


def _validation_share(facts: DataFacts, recipe: TrainingRecipe) -> float:
    """The recipe's share, or a larger one where it would leave too few to choose by."""
    if not facts.num_images:
        return recipe.validation_share
    num_train = facts.num_images * (1.0 - recipe.test_share)
    wanted = _VALIDATED_PER_CLASS * facts.num_classes / num_train
    return max(recipe.validation_share, min(round(wanted, 2), _MAX_VALIDATION_SHARE))
