"""The map of a run's images and the training images nearest to one, by a real worker."""

from __future__ import annotations

import csv
import json
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.class_folders import write_stripes
from workbench.cli import _service, main
from workbench.core.projects.project import Choice
from workbench.pictures.png import write_png
from workbench.protocol.messages import Cancel, Done, Failed, Progress
from workbench.protocol.service_call import ServiceCall
from workbench.protocol.trained.image_map import FindNearest, MapImages
from workbench.runs.store.image_features import (
    IMAGE_FEATURES_NAME,
    IMAGE_MAP_NAME,
    TEST,
    TRAINING,
    load_features,
    load_image_map,
)
from workbench.worker.requests.trained import image_map as image_features

pytestmark = pytest.mark.worker


@pytest.fixture
def trained(train_here, small_project):
    """A run with a hidden layer."""
    layers = [("rescaling", {}), ("flatten", {}), ("dense", {"units": 6, "activation": "relu"})]
    return train_here(small_project(*layers, epochs=2, precision="float32")).run


@pytest.fixture
def service():
    with ServiceCall() as call:
        yield call


def mapped(run):
    card = run.model_card()
    found = load_image_map(run, card.checksum, len(card.class_names))
    return found, load_features(run, found)


def last(service, request):
    *_, answer = service.answers(request)
    return answer


def test_a_map_has_all_images_of_the_run(trained, service, stripes_npz):
    assert isinstance(last(service, MapImages(id=1, model=str(trained.path))), Done)
    found, features = mapped(trained)
    source = np.load(stripes_npz)
    assert found.counts == found.totals.tolist() == [540, 60, 100]
    assert not found.is_sample
    for number in (0, 300, 539, 540, 600, 699):
        place = found.images.place(number)
        assert found.images.actual[number] == source[f"y_{place.part}"][place.index]
    is_test = found.role == TEST
    assert trained.model_card().test.accuracy == found.images.is_right[is_test].mean()
    unit = features.rows.astype(np.float64)
    centered = unit - unit.mean(axis=0)
    left, singular, _ = np.linalg.svd(centered, full_matrices=False)
    expected = left[:, :2] * singular[:2]
    signs = np.sign((found.points * expected).sum(axis=0))
    np.testing.assert_allclose(found.points * signs, expected, atol=1e-3)


def test_the_nearest_image_of_a_training_image_is_itself(trained, service, stripes_npz, tmp_path):
    picture = str(tmp_path / "one.png")
    write_png(tmp_path / "one.png", np.load(stripes_npz)["x_train"][7])
    request = FindNearest(id=1, model=str(trained.path), picture=picture)
    answer = last(service, request)
    assert answer.images == []
    assert answer.count == 0
    last(service, MapImages(id=2, model=str(trained.path)))
    found, _ = mapped(trained)
    trained_on = found.images.index[found.role == TRAINING].tolist()
    write_png(tmp_path / "one.png", np.load(stripes_npz)["x_train"][trained_on[5]])
    answer = last(service, FindNearest(id=3, model=str(trained.path), picture=picture))
    assert (answer.count, answer.total, len(answer.images)) == (540, 540, 8)
    first = answer.images[0]
    assert (first.part, first.index) == ("train", trained_on[5])
    assert first.distance == pytest.approx(0, abs=1e-3)
    far = [image.distance for image in answer.images]
    assert far == sorted(far)
    assert {image.index for image in answer.images} <= {*trained_on}
    assert answer.source == "npz"


def test_moved_and_changed_images_are_marked(train_here, small_project, tmp_path, service):
    folder = write_stripes(tmp_path / "data", 60)
    project = small_project(classes=3, epochs=1, batch_size=16)
    run = train_here(replace(project, dataset=Choice("folder", {"path": str(folder)}))).run
    picture = min(folder.rglob("*.png"))
    request = FindNearest(id=1, model=str(run.path), picture=str(picture), may_compute=True)
    answer = last(service, request)
    assert {image.state for image in answer.images} == {""}
    gone, other = [image.file for image in answer.images if image.file != str(picture)][:2]
    Path(gone).rename(tmp_path / "elsewhere.png")
    write_png(other, np.zeros((8, 8, 1), np.uint8))
    again = last(service, FindNearest(id=2, model=str(run.path), picture=str(picture)))
    states = {image.file: image.state for image in again.images}
    assert states.pop(gone) == "missing"
    assert states.pop(other) == "changed"
    assert {*states.values()} == {""}


def test_features_of_other_weights_are_computed_again(trained, service):
    last(service, MapImages(id=1, model=str(trained.path)))
    card = trained.model_card()
    assert load_image_map(trained, "0" * 64, len(card.class_names)) is None
    before = (trained.path / IMAGE_MAP_NAME).stat().st_mtime_ns
    last(service, MapImages(id=2, model=str(trained.path)))
    assert (trained.path / IMAGE_MAP_NAME).stat().st_mtime_ns == before


def test_a_damaged_file_is_computed_again(trained):
    with ServiceCall() as first:
        last(first, MapImages(id=1, model=str(trained.path)))
    (trained.path / IMAGE_FEATURES_NAME).write_bytes(b"damaged")
    with ServiceCall() as second:
        assert isinstance(last(second, MapImages(id=1, model=str(trained.path))), Done)
    found, features = mapped(trained)
    assert len(features.rows) == len(found) == 700


def test_it_is_canceled_and_leaves_nothing(trained, service):
    answers = service.answers(MapImages(id=1, model=str(trained.path)))
    for answer in answers:
        if isinstance(answer, Progress) and "features" in answer.text:
            break
    service.send(Cancel(id=2, target=1))
    final = [each for each in answers if isinstance(each, (Failed, Done)) and each.id == 1][-1]
    if isinstance(final, Failed):  # else it had ended before
        assert final.error.what == "Canceled."
        assert not (trained.path / IMAGE_MAP_NAME).exists()


def test_more_images_than_are_used_are_a_sample(trained, monkeypatch, tmp_path):
    from tests.contexts import PlainContext
    from workbench.worker.trainer.after_training import load_runner

    monkeypatch.setattr(image_features, "MOST_TRAINING", 50)
    monkeypatch.setattr(image_features, "MOST_OTHERS", 110)
    runner = load_runner(trained.path)
    said = []
    found, features = image_features.made_map(
        trained, runner, PlainContext(tmp_path), lambda words, at: said.append((words, at))
    )
    assert found.counts == [50, 10, 100]
    assert found.totals.tolist() == [540, 60, 100]
    assert found.is_sample
    assert features.rows.shape == (160, 6)
    assert features.basis is None
    assert [at for _, at in said] == sorted(at for _, at in said)


def test_a_file_that_is_no_run_is_refused(service, tmp_path):
    answer = last(service, MapImages(id=1, model=str(tmp_path)))
    assert answer.error.what == "Only a run has training images."


def test_many_hidden_outputs_are_reduced(train_here, small_project, monkeypatch, tmp_path):
    from tests.contexts import PlainContext
    from workbench.core.data_check import image_map
    from workbench.worker.trainer.after_training import load_runner

    monkeypatch.setattr(image_map, "MOST_COLUMNS", 20)
    run = train_here(small_project(epochs=1, precision="float32")).run
    runner = load_runner(run.path)
    found, features = image_features.made_map(
        run, runner, PlainContext(tmp_path), lambda words, at: None
    )
    assert features.rows.shape == (700, 20)
    assert features.width == runner.hidden_size == 64
    assert len(load_features(run, found).basis) == 64


def test_the_command_writes_a_table(trained, service, monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(_service, "ServiceCall", lambda: nullcontext(service))
    out = tmp_path / "map.csv"
    words = ["map", str(trained.path), "-o", str(out), "--json"]
    assert main(words) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["images"] == facts["total"] == {"train": 540, "validation": 60, "test": 100}
    assert facts["method"] == "pca"
    found, _ = mapped(trained)
    assert facts["accuracy"] == pytest.approx(found.images.is_right.mean())
    rows = list(csv.DictReader(out.read_text().splitlines()))
    assert len(rows) == 700
    assert float(rows[600]["x"]) == pytest.approx(found.points[600, 0], rel=1e-4)
    assert rows[600]["file"] == "test:0"
    assert main(words) == 2
    assert json.loads(capsys.readouterr().out)["error"]["what"] == "This file already exists."
    assert main([*words, "--force"]) == 0
