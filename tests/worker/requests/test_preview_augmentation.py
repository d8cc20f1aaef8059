"""A preview of augmentation shows the very pixels that training batches hold."""

from __future__ import annotations

from dataclasses import replace
from itertools import count

import numpy as np
import pytest
from PIL import Image

from tests.worker.conftest import chain
from workbench.core.network.graph import Edge, Graph, Node
from workbench.core.projects.project import Choice, Project
from workbench.core.projects.project_file import project_text
from workbench.core.training.recipe import TrainingRecipe
from workbench.layers import all_layers
from workbench.pictures.fit import fit_picture
from workbench.pictures.prepare import PreparedPart
from workbench.protocol.augmentation import PreviewAugmentation
from workbench.worker.input.pipeline import training_pipeline
from workbench.worker.model.build import build_model

pytestmark = pytest.mark.worker

SHAPE, CLASSES, BATCH, SEED = (24, 32, 3), ("ash", "birch", "cedar"), 12, 5
CHAIN = (
    ("random_flip", {}),
    ("random_rotation", {}),
    ("random_translation", {}),
    ("random_contrast", {"factor": 0.4}),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Photos of other sizes and proportions than the network's input."""
    folder = tmp_path_factory.mktemp("photos")
    random = np.random.default_rng(3)
    for name in CLASSES:
        (folder / name).mkdir()
        for number in range(12):
            small = random.integers(0, 256, (6, 5, 3), np.uint8)
            photo = Image.fromarray(small).resize((60 + number, 50), Image.Resampling.BICUBIC)
            photo.save(folder / name / f"{number:02d}.png")
    return folder


def project(folder, layers=CHAIN, **recipe):
    graph = chain(
        ("input", {"shape": SHAPE}),
        *layers,
        ("flatten", {}),
        ("dense", {"units": 3, "activation": "softmax"}),
    )
    recipe = TrainingRecipe().with_values(seed=SEED, batch_size=BATCH, **recipe)
    return Project(
        graph=graph, recipe=recipe, dataset=Choice("folder", {"path": str(folder), "fit": "crop"})
    )


def preview(service, some, **fields):
    return service.done(PreviewAugmentation, project=project_text(some), **fields)


def pixels(path):
    with Image.open(path) as file:
        return np.asarray(file).reshape(SHAPE)


def fitted(image):
    with Image.open(image.file) as file:
        return fit_picture(np.asarray(file), SHAPE, fit="crop")


def batches(some, part, steps, *, first, may_compile=False, layers=None):
    """What the function that trains makes of a part, as arrays: batches of all its images."""
    if layers is None:
        built = build_model(some.graph, all_layers(), seed=SEED)
        layers = [layer for _, layer in built.pipeline]
    order = np.tile(np.arange(len(part)), (steps, 1))
    dataset = training_pipeline(
        part,
        lambda start_step: iter([order]),
        layers,
        batch_size=len(part),
        seed=SEED,
        start_step=first,
        recipe=some.recipe,
        num_classes=len(CLASSES),
        may_compile=may_compile,
    )
    return [x.numpy() for x, _ in dataset.take(steps)]


def as_pixels(batch):
    return np.clip(np.rint(batch), 0, 255).astype(np.uint8)


def part_of(answer):
    rows = np.stack([fitted(image) for image in answer.images])
    labels = [CLASSES.index(image.label) for image in answer.images]
    return PreparedPart(rows, np.array(labels, np.int64))


@pytest.mark.parametrize(
    "recipe", [{}, {"random_erasing": 0.7}, {"mixing": "mixup"}, {"mixing": "cutmix"}]
)
def test_a_preview_has_the_pixels_of_a_training_batch(service, folder, recipe):
    some = project(folder, **recipe)
    answer = preview(service, some, count=4, variants=3, step=17)
    assert len(answer.images) == 4
    part = part_of(answer)
    for image, row in zip(answer.images, part.x, strict=True):
        assert np.array_equal(pixels(image.original), row), "fitted, not augmented"
    trained = batches(some, part, 3, first=17)
    compiled = batches(some, part, 3, first=17, may_compile=True)
    for step in range(3):
        shown = np.stack([pixels(image.variants[step]) for image in answer.images])
        assert np.array_equal(shown, as_pixels(trained[step]))
        assert np.abs(shown - compiled[step]).max() <= 1.5, "XLA differs by rounding alone"
        assert (shown != part.x).any()


def test_it_is_the_first_rows_of_a_whole_batch(service, folder):
    """Training draws for all rows of a batch; those that are shown get the same numbers."""
    some = project(folder)
    answer = preview(service, some, count=3, variants=2, step=4)
    shown = part_of(answer)
    more = np.concatenate([shown.x] * (BATCH // 3)), np.concatenate([shown.y] * (BATCH // 3))
    for step, batch in enumerate(batches(some, PreparedPart(*more), 2, first=4)):
        for row, image in enumerate(answer.images):
            assert np.array_equal(pixels(image.variants[step]), as_pixels(batch[row]))


def test_rescaled_images_are_shown_in_their_own_brightness(service, folder):
    head = [
        ("random_flip", {"mode": "vertical"}),
        ("rescaling", {"scale": 1 / 127.5, "offset": -1}),
    ]
    answer = preview(service, project(folder, head), count=3, variants=4)
    for image in answer.images:
        original = pixels(image.original)
        for path in image.variants:
            found = pixels(path)
            assert np.array_equal(found, original) or np.array_equal(found, original[::-1])


def test_a_measured_normalization_is_undone_for_the_eye(service, folder):
    answer = preview(service, project(folder, [("normalization", {})]), count=2, variants=1)
    for image in answer.images:
        difference = pixels(image.original).astype(int) - pixels(image.variants[0])
        assert np.abs(difference).max() <= 1


def test_the_same_request_gives_the_same_and_another_step_or_seed_others(service, folder):
    some, seen = project(folder), []
    for fields in ({}, {}, {"step": 1}, {"seed": 99}):
        answer = preview(service, some, indices=[1, 20], variants=1, **fields)
        assert [image.index for image in answer.images] == [1, 20]
        seen.append(np.stack([pixels(image.variants[0]) for image in answer.images]))
    assert np.array_equal(seen[0], seen[1])
    assert not np.array_equal(seen[0], seen[2])
    assert not np.array_equal(seen[0], seen[3])


def test_other_images_are_of_the_training_part(service, folder):
    """None is held out, and another pick shows others."""
    some = project(folder, test_share=0.4, validation_share=0.3)
    picks = [preview(service, some, count=4, pick=pick, variants=1) for pick in range(6)]
    shown = {image.index for answer in picks for image in answer.images}
    assert picks[0].num_train < 36
    assert 4 < len(shown) <= picks[0].num_train


def test_files_that_are_known_to_be_unreadable_are_not_counted(service, folder):
    """As by the split that the Data view shows."""
    some = project(folder)
    before = preview(service, some, count=2, variants=1)
    bad = [image.file for image in before.images]
    after = preview(service, some, count=16, variants=1, bad_files=bad)
    assert after.num_train == before.num_train - 2
    assert not {*bad} & {image.file for image in after.images}


def test_the_rest_of_the_network_may_be_unfinished(service, folder):
    some = project(folder)
    start = Graph.of([Node("n0", "input", "input", {"shape": SHAPE})])
    alone = preview(service, replace(some, graph=start), count=1, variants=2)
    assert np.array_equal(pixels(alone.images[0].original), pixels(alone.images[0].variants[1]))
    nodes = [*start.nodes.values(), Node("n1", "random_flip", "flip", {"mode": "vertical"})]
    open_end = Graph.of([*nodes, Node("n2", "dense", "d", {"units": 9})], [Edge("n0", "n1")])
    assert preview(service, replace(some, graph=open_end), count=1, variants=1).images
    refused = service.failed(
        PreviewAugmentation, project=project_text(replace(some, graph=Graph()))
    )
    assert "Input" in refused.what


def test_images_that_cannot_be_read_are_passed_by(service, folder, tmp_path):
    numbers = count()
    for name in CLASSES[:2]:
        (tmp_path / name).mkdir()
        for path in (folder / name).iterdir():
            (tmp_path / name / f"{next(numbers)}.png").write_bytes(path.read_bytes())
    broken = tmp_path / "ash" / "0.png"
    broken.write_bytes(b"\x89PNG\r\n\x1a\n no image")
    answer = preview(service, project(tmp_path, test_share=0.1), count=16, variants=1)
    assert answer.images
    assert str(broken) not in {image.file for image in answer.images}
