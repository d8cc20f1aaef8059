"""PreviewAugmentation: training images as the input pipeline hands them to the network.

The batches come from the function that makes those of training, from the same layers: a preview
is the first rows of a training batch of these images, with the same seed and step. Where the
recipe mixes images, the partner of each is the one before it among those shown.
"""

from __future__ import annotations

import shutil
import tempfile
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from workbench.core.checks.shapes import Propagation
from workbench.core.format import path_text
from workbench.core.network.roles import input_node
from workbench.core.projects.project import Project
from workbench.core.projects.project_file import parse_project
from workbench.core.specs import FilePart, LoadedData, Shape
from workbench.core.training.split import TRAIN, random_order
from workbench.errors import DatasetError, GraphError, PictureError
from workbench.layers import all_layers
from workbench.pictures.divide import divide
from workbench.pictures.file_rows import FileRows
from workbench.pictures.png import write_png
from workbench.pictures.prepare import PreparedPart, prepare
from workbench.protocol.augmentation import (
    AugmentationPreview,
    AugmentedImage,
    PreviewAugmentation,
)
from workbench.worker.input.augment import outside_training, through
from workbench.worker.input.pipeline import training_pipeline
from workbench.worker.input.sources import fit_of, load_data
from workbench.worker.model.build import build_pipeline
from workbench.worker.requests.count_split import are_readable
from workbench.worker.requests.session import Job
from workbench.worker.step.trainable import adapt_pipeline, is_adapted

MOST_IMAGES, MOST_VARIANTS = 16, 16
_FOLDERS_KEPT = 3
"""Previews whose files stay: the window may still be reading those of the one before."""

_SETS_KEPT = 4
_WHITE = 255

Pixels = np.ndarray[Any, np.dtype[np.uint8]]


@dataclass(frozen=True)
class _Chosen:
    """Images that are looked at.

    Attributes:
        indices: Among those of the training part.
        part: The same fitted to the network's input.
        labels: Name of the class of each.
        files: The file of each; "" for none.
        class_names: Names of all classes of the data set.
        num_train: How many images are trained on.
    """

    indices: tuple[int, ...]
    part: PreparedPart
    labels: tuple[str, ...]
    files: tuple[str, ...]
    class_names: tuple[str, ...]
    num_train: int


_KEPT: OrderedDict[str, _Chosen] = OrderedDict()
"""The images looked at last: while strengths are changed, none is read again."""


def preview_augmentation(job: Job, request: PreviewAugmentation) -> AugmentationPreview:
    """Writes the images, and what training makes of them.

    Raises:
        GraphError: the network has no Input, or its input pipeline is wrong.
        DatasetError: the source cannot be loaded, or none of the images can be read.
    """
    project = parse_project(request.project, "the project")
    shape = _input_shape(project)
    chosen = _chosen(job, project, request, shape)
    job.keras()
    pipeline = build_pipeline(project.graph, all_layers(), seed=project.recipe.seed)
    _adapt(job, project, pipeline, shape)
    job.check_cancelled()
    batches = _batches(project, pipeline, chosen, request)
    folder = _new_folder(job.folder / "augmented")
    originals = np.asarray(chosen.part.x)
    variants = list(_shown(pipeline, shape, batches))
    images = []
    for row, index in enumerate(chosen.indices):
        job.check_cancelled()
        pictures = [originals[row], *(batch[row] for batch in variants)]
        paths = [str(folder / f"{row}-{number}.png") for number in range(len(pictures))]
        for path, picture in zip(paths, pictures, strict=True):
            write_png(path, picture)
        label, file = chosen.labels[row], path_text(chosen.files[row])
        images.append(
            AugmentedImage(
                index=index, label=label, file=file, original=paths[0], variants=paths[1:]
            )
        )
    return AugmentationPreview(id=job.id, images=images, num_train=chosen.num_train)


# the input pipeline ---------------------------------------------------------------------


def _input_shape(project: Project) -> Shape:
    layers = all_layers()
    start = input_node(project.graph, layers)
    if start is None:
        raise GraphError(
            "The network does not have exactly one Input layer.",
            fix="Add an Input layer; augmentation comes right behind it.",
        )
    shape: Shape = Propagation(project.graph, layers).shapes.get(start.id, ())
    return shape


def _adapt(job: Job, project: Project, pipeline: Sequence[Any], shape: Shape) -> None:
    """Normalization measures the training images, as it does before training."""
    if not any(is_adapted(layer) for layer in pipeline):
        return
    loaded, fit = load_data(job, project), fit_of(project.dataset.params)
    data = prepare(loaded, shape=shape, fit=fit, recipe=project.recipe, ctx=job)
    adapt_pipeline(pipeline, data.train, check=job.check_cancelled)


def _batches(
    project: Project, pipeline: Sequence[Any], chosen: _Chosen, request: PreviewAugmentation
) -> Iterator[Any]:
    """One batch of the chosen images for each variant."""
    count = len(chosen.indices)
    variants = min(max(request.variants, 1), MOST_VARIANTS)
    block = np.tile(np.arange(count, dtype=np.int64), (variants, 1))
    seed = project.recipe.seed if request.seed is None else request.seed
    dataset = training_pipeline(
        chosen.part,
        lambda start_step: iter([block]),
        pipeline,
        batch_size=count,
        seed=seed,
        start_step=request.step,
        place="memory",
        recipe=project.recipe,
        num_classes=len(chosen.class_names),
        # XLA would compile for a second after each change, and differs by rounding alone.
        may_compile=False,
    )
    return (pictures.numpy() for pictures, _ in dataset.take(variants))


def _shown(pipeline: Sequence[Any], shape: Shape, batches: Iterator[Any]) -> Iterator[Pixels]:
    """Batches as pixels: what a layer such as Rescaling makes of black and of white is shown as
    black and white.
    """
    layers = outside_training(pipeline)
    plain = [np.full((1, *shape), value, np.float32) for value in (0, _WHITE)]
    ends = [np.asarray(through(each, layers, training=False), np.float32) for each in plain]
    black, white = (end.mean(axis=(0, 1, 2)) for end in ends)
    span = np.where(white == black, 1.0, white - black)
    for batch in batches:
        values = (np.asarray(batch, np.float32) - black) / span * _WHITE
        yield np.clip(np.rint(values), 0, _WHITE).astype(np.uint8)


# the images -----------------------------------------------------------------------------


def _chosen(job: Job, project: Project, request: PreviewAugmentation, shape: Shape) -> _Chosen:
    dataset, recipe = project.dataset, project.recipe
    which = request.indices or (request.count, request.pick)
    key = repr((dataset, project.edits, recipe.split_values(), shape, which, request.bad_files))
    found = _KEPT.pop(key, None) or _read(job, project, request, shape)
    _KEPT[key] = found
    while len(_KEPT) > _SETS_KEPT:
        _KEPT.popitem(last=False)
    return found


def _read(job: Job, project: Project, request: PreviewAugmentation, shape: Shape) -> _Chosen:
    loaded = load_data(job, project)
    trained = _trained(job, project, loaded, request.bad_files)
    wanted = min(max(request.count, 1), MOST_IMAGES)
    candidates: list[int] = [int(number) for number in random_order(trained, request.pick)]
    if request.indices:
        wanted = min(len(request.indices), MOST_IMAGES)
        candidates = [each for each in request.indices if 0 <= each < len(loaded.train)]
    job.progress("Reading the images")
    fit = fit_of(project.dataset.params)
    part = FileRows(loaded.train, shape, fit, np.array(candidates, np.int64))
    rows, indices = _readable(job, part, candidates, wanted)
    labels = np.asarray(loaded.train.labels, np.int64)[indices]
    return _Chosen(
        tuple(indices),
        PreparedPart(np.stack(rows), labels),
        tuple(loaded.class_names[label] for label in labels),
        tuple(_file_of(loaded, index) for index in indices),
        loaded.class_names,
        len(trained),
    )


def _trained(
    job: Job, project: Project, loaded: LoadedData, bad_files: Sequence[str]
) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Numbers of the images that are trained on: none is held out, or known to be unreadable."""
    bad = {path for path, _ in loaded.bad_files}.union(bad_files)
    readable = np.flatnonzero(are_readable(loaded.train, bad))
    has = {
        "has_test": loaded.test is not None and len(loaded.test) > 0,
        "has_validation": loaded.validation is not None and len(loaded.validation) > 0,
    }
    divided = divide(loaded, project.recipe, job, chosen=readable, **has)
    return np.asarray(readable[divided.parts == TRAIN], np.int64)


def _readable(
    job: Job, part: FileRows, candidates: list[int], wanted: int
) -> tuple[list[Pixels], list[int]]:
    """The first images that can be read, fitted, and their numbers."""
    rows: list[Pixels] = []
    indices: list[int] = []
    reasons: list[str] = []
    for place, index in enumerate(candidates):
        job.check_cancelled()
        if len(indices) == wanted:
            break
        try:
            rows.append(np.asarray(part[place]))
        except PictureError as error:
            reasons.append(error.what)
        else:
            indices.append(index)
    if not rows:
        raise DatasetError(
            "There is no training image to show.",
            received=reasons[0] if reasons else "no image",
            fix="Choose images in the Data view.",
        )
    return rows, indices


def _file_of(loaded: LoadedData, index: int) -> str:
    file = loaded.train.paths[index] if isinstance(loaded.train, FilePart) else ""
    return file if file.isprintable() else ""


def _new_folder(parent: Path) -> Path:
    """A folder for the files of a preview; those of earlier ones are removed."""
    parent.mkdir(exist_ok=True)
    earlier = sorted(parent.iterdir(), key=lambda path: path.stat().st_mtime_ns)
    for path in earlier[: max(0, len(earlier) + 1 - _FOLDERS_KEPT)]:
        shutil.rmtree(path, ignore_errors=True)
    return Path(tempfile.mkdtemp(prefix="preview-", dir=parent))
