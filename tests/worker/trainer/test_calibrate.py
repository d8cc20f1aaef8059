"""Calibrated at the end of a real training: temperature, distance, and what they change."""

from __future__ import annotations

import subprocess
import sys

import msgspec
import numpy as np
import pytest
from PIL import Image

from tests.worker.trainer.test_longer import train_longer
from workbench.errors import RunFolderError
from workbench.pictures.prepare import PreparedPart
from workbench.protocol.classify import Classified, Classify
from workbench.protocol.export import Export
from workbench.protocol.messages import Done, Failed
from workbench.protocol.trained.calibration import Calibrate
from workbench.protocol.trained.evaluate import Evaluate, Evaluation
from workbench.protocol.wire import error_from_parts
from workbench.runs.model_card import write_card
from workbench.runs.store.evaluation import keep_evaluation, known_scores, read_image_scores
from workbench.runs.store.image_features import keep_thresholds, references_path
from workbench.runs.store.image_scores import IMAGE_SCORES_NAME
from workbench.worker.saved_models.calibrating import fit_calibration

pytestmark = pytest.mark.worker


@pytest.fixture(scope="session")
def noisy_npz(tmp_path_factory):
    """Three classes that are hard to tell apart, so that there are errors to fit to."""
    random = np.random.default_rng(7)
    labels = np.arange(1200) % 3
    images = random.integers(0, 200, (1200, 8, 8, 1)).astype(np.int64)
    images[np.arange(1200), 1 + 2 * labels] += 22
    x, path = images.clip(0, 255).astype(np.uint8), tmp_path_factory.mktemp("noisy") / "noisy.npz"
    np.savez(path, x_train=x[:900], y_train=labels[:900], x_test=x[900:], y_test=labels[900:])
    return path


HARD = {"epochs": 45, "validation_share": 0.3, "precision": "float32", "learning_rate": 0.02}


@pytest.fixture
def calibrated(completed, small_project, noisy_npz):
    dense = ("dense", {"units": 24, "activation": "relu"})
    project = small_project(("rescaling", {}), ("flatten", {}), dense, data=noisy_npz, **HARD)
    return completed(project)


@pytest.mark.parametrize(("validation", "is_on"), [(21, False), (22, True), (100, True)])
def test_the_distance_is_checked_where_its_limit_is_known_well(validation, is_on):
    """Probabilities and hidden outputs at random: only the number of images counts."""

    def part(count):
        return PreparedPart(np.zeros((count, 2, 2, 1), np.uint8), np.arange(count) % 3)

    def measure(images):
        random = np.random.default_rng(len(images))
        return random.dirichlet(np.ones(3), len(images)), random.random((len(images), 4))

    found, _ = fit_calibration(part(validation), part(200), 4, measure)
    assert found.distance.is_on == is_on
    assert (found.limit is not None) == is_on


def answer_of(service, request, kind):
    answers = list(service.call.answers(request))
    if isinstance(answers[-1], Failed):
        raise error_from_parts(answers[-1].error)
    return next(answer for answer in answers if isinstance(answer, kind))


def test_a_training_ends_with_probabilities_that_are_nearer_to_the_truth(calibrated, service):
    run = calibrated.run
    found = run.model_card().calibration
    assert found.count == 270
    assert found.temperature > 1.2  # it has learned the training images by heart
    assert found.loss_after < found.loss_before
    assert found.error_after < found.error_before
    assert found.limit is not None
    after = answer_of(service, Evaluate(id=1, model=str(run.path)), Evaluation)
    card = run.model_card()
    write_card(run.path, msgspec.structs.replace(card, calibration=None))
    before = answer_of(service, Evaluate(id=2, model=str(run.path)), Evaluation)
    # By a request for a run of an earlier version: the same, but for rounding.
    answer_of(service, Calibrate(id=3, model=str(run.path)), Done)
    assert (after.accuracy, after.confusion) == (before.accuracy, before.confusion)
    assert after.loss == before.loss  # that of training, which knows no temperature
    assert after.calibration.before == before.calibration.before
    error = after.calibration.expected_calibration_error
    assert error < before.calibration.expected_calibration_error
    assert after.calibration.after.error == error
    assert after.calibration.kept_near.all[0] == pytest.approx(0.95 * 300, abs=20)
    again = run.model_card().calibration
    assert again.temperature == pytest.approx(found.temperature, rel=1e-3)
    assert again.distance.limit == pytest.approx(found.distance.limit, abs=1e-3)


def test_what_is_kept_of_each_test_image_is_calibrated_as_evaluate_does(calibrated, service):
    run = calibrated.run
    kept, images = scores_of(run)
    again = answer_of(service, Evaluate(id=1, model=str(run.path)), Evaluation)
    assert images.probability == pytest.approx(scores_of(run)[1].probability, rel=1e-4)
    assert images.is_right.mean() == again.accuracy == kept.result.accuracy
    error = kept.result.calibration.expected_calibration_error
    assert error == pytest.approx(again.calibration.expected_calibration_error, abs=1e-3)
    near, once_more = kept.result.calibration.kept_near, again.calibration.kept_near
    assert near.all == pytest.approx(once_more.all, abs=2)
    # Of an earlier calibration, the answers that are kept are those of this one.
    card = run.model_card()
    older = msgspec.structs.replace(card.calibration, temperature=19.0)
    write_card(run.path, msgspec.structs.replace(card, calibration=older))
    answer_of(service, Evaluate(id=2, model=str(run.path)), Evaluation)
    assert scores_of(run)[1].probability.mean() < 0.45
    answer_of(service, Calibrate(id=3, model=str(run.path)), Done)
    assert scores_of(run)[1].probability == pytest.approx(images.probability, rel=1e-2)


def test_an_evaluation_that_cannot_be_repeated_is_removed(calibrated, service, tmp_path):
    run = calibrated.run
    kept, images = scores_of(run)
    gone = msgspec.structs.replace(kept, source="npz", params={"path": str(tmp_path / "gone.npz")})
    keep_evaluation(run, gone, images)
    done = answer_of(service, Calibrate(id=1, model=str(run.path)), Done)
    assert "Its evaluation was removed" in done.text
    assert known_scores(run).kept is None
    assert not (run.path / IMAGE_SCORES_NAME).exists()


def scores_of(run):
    kept = known_scores(run).kept
    return kept, read_image_scores(run, kept)


def test_an_answer_is_unknown_where_a_threshold_says_so(calibrated, service, tmp_path):
    run = calibrated.run
    path = tmp_path / "image.png"
    picture = np.full((8, 8), 90, np.uint8)
    picture[1] = 150
    Image.fromarray(picture).save(path)
    request = Classify(id=1, model=str(run.path), pictures=[str(path)])

    def answer(service):
        return answer_of(service, request, Classified)

    keep_thresholds(run, least_probability=None, checks_distance=False)
    first = answer(service)
    least = min(1.0, first.scores[0].probability + 0.001)
    keep_thresholds(run, least_probability=least, checks_distance=False)
    unsure = answer(service)
    keep_thresholds(run, least_probability=None, checks_distance=True)
    with_limit(run, -0.9)  # no image is as near as that
    far = answer(service)
    references_path(run).write_bytes(b"damaged")
    without = answer(service)
    assert first.unknown == ""
    assert "not confident enough" in unsure.unknown
    assert far.unknown == "unlike the training images"
    assert without.unknown == ""
    for each in (unsure, far, without):
        assert (each.label, each.scores) == (first.label, first.scores)


def test_a_longer_training_keeps_the_thresholds_that_were_set(calibrated):
    run = calibrated.run
    keep_thresholds(run, least_probability=0.705, checks_distance=False)
    before = run.model_card()
    train_longer(calibrated, HARD["epochs"] + 1)
    card = run.model_card()
    found = card.calibration
    assert card.epochs_done == before.epochs_done + 1
    assert found.distance.checksum != before.calibration.distance.checksum
    assert (found.least_probability, found.limit) == (0.705, None)


def test_what_is_exported_answers_as_the_run_does(calibrated, service, tmp_path):
    run, random = calibrated.run, np.random.default_rng(3)
    files = [str(tmp_path / f"{number}.png") for number in range(40)]
    for number, file in enumerate(files):
        image = random.integers(0, 200, (8, 8))
        image[1 + 2 * (number % 3)] += 22
        if number % 5 == 4:
            image[:], image[:, number // 5] = 0, 255
        Image.fromarray(image.astype(np.uint8)).save(file)
    keep_thresholds(run, least_probability=0.6, checks_distance=True)
    for kind, name in (("keras", "m.keras"), ("weights", "w.weights.h5"), ("python", "s.py")):
        where = str(tmp_path / name)
        answer_of(service, Export(id=1, model=str(run.path), format=kind, path=where), Done)

    def answers(model):
        request = Classify(id=2, model=str(model), pictures=files)
        return [each for each in service.call.answers(request) if isinstance(each, Classified)]

    own, exported = answers(run.path), answers(tmp_path / "m.keras")
    keep_thresholds(run, least_probability=0.6, checks_distance=False)
    without = answers(run.path)
    reasons = {answer.unknown.split(" (")[0] for answer in own}
    assert reasons == {"", "not confident enough", "unlike the training images"}
    for one, other in zip(own, exported, strict=True):
        assert (one.label, one.unknown) == (other.label, other.unknown)
        assert one.scores[0].probability == pytest.approx(other.scores[0].probability, rel=1e-4)
    command = [sys.executable, "s.py", "classify", "w.weights.h5", *files]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    lines = [line for line in done.stdout.splitlines() if ".png: " in line]
    assert lines == [script_line(answer) for answer in without]


def script_line(answer):
    share = f"{answer.scores[0].probability:.1%}"
    if answer.unknown:
        return f"{answer.file}: unknown ({answer.label}, {share})"
    return f"{answer.file}: {answer.label} ({share})"


def with_limit(run, limit):
    card = run.model_card()
    mark = msgspec.structs.replace(card.calibration.distance, limit=limit)
    found = msgspec.structs.replace(card.calibration, distance=mark)
    write_card(run.path, msgspec.structs.replace(card, calibration=found))


@pytest.mark.parametrize(
    ("recipe", "reason"), [("test", "are the test images"), ("none", "without validation images")]
)
def test_without_validation_images_of_its_own_a_run_says_why_it_is_not(
    completed, service, small_project, recipe, reason
):
    training = completed(small_project(epochs=1, validation=recipe))
    found = training.run.model_card().calibration
    assert (found.temperature, found.distance) == (None, None)
    assert reason in found.reason
    with pytest.raises(RunFolderError, match=reason):
        answer_of(service, Calibrate(id=1, model=str(training.run.path)), Done)


def test_without_an_error_there_is_nothing_to_fit_to(completed, small_project):
    training = completed(small_project())
    found = training.run.model_card().calibration
    assert found.temperature is None
    assert "classified correctly" in found.reason
    assert found.distance is not None
