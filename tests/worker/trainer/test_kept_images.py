"""A training keeps what its test has answered for each image, as Evaluate would."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PIL import Image
from sklearn.metrics import f1_score

from tests.class_folders import write_stripes
from tests.contexts import PlainContext
from tests.worker.trainer.test_edited_runs import edits_for
from workbench.core.evaluation.ranking import Wish
from workbench.core.projects.data_edits import PART_NAMES
from workbench.core.projects.project import Choice
from workbench.core.specs import FilePart
from workbench.pictures.contents import content_of_file, content_of_pixels
from workbench.protocol.trained.evaluate import Evaluate
from workbench.runs.store.evaluation import known_scores, read_class_scores, read_image_scores
from workbench.worker.input.sources import edits_of, load_source, run_test_part

pytestmark = pytest.mark.worker


def kept_images(run):
    kept = known_scores(run).kept
    return kept, read_image_scores(run, kept)


@pytest.mark.full_but("1")
@pytest.mark.parametrize("replicas", [1, 2])
def test_the_images_of_a_test_are_those_of_evaluate(trainer, service, small_project, replicas):
    project = small_project(precision="float32", batch_size=48)
    if replicas > 1:
        project = replace(project, target=Choice("virtual", {"replicas": replicas}))
    trained = trainer(project)
    trained.finish()
    kept, images = kept_images(trained.run)
    card = trained.run.model_card()
    assert kept.checksum == card.checksum
    assert kept.result.accuracy == card.test.accuracy == images.is_right.mean()
    assert kept.result.loss == pytest.approx(card.test.loss, rel=1e-5)
    rows = read_class_scores(trained.run, kept)
    answer = service.done(Evaluate, model=str(trained.run.path))
    now, again = kept_images(trained.run)
    assert again.actual.tolist() == images.actual.tolist() == rows.actual.tolist()
    assert again.predicted.tolist() == images.predicted.tolist()
    assert again.index.tolist() == images.index.tolist() == list(range(100))
    assert {*again.part} == {PART_NAMES.index("test")}
    assert again.probability == pytest.approx(images.probability, rel=1e-4)
    assert again.loss == pytest.approx(images.loss, rel=1e-3, abs=1e-5)
    later = read_class_scores(trained.run, now).probabilities
    assert later == pytest.approx(rows.probabilities, rel=1e-3, abs=1e-6)
    assert rows.probabilities.max(axis=1).tolist() == images.probability.tolist()
    assert answer.roc_auc.micro == pytest.approx(kept.result.roc_auc.micro, abs=1e-3)
    np.testing.assert_array_equal(images.rank == 0, images.is_right)
    expected = {k: (images.rank < k).mean() for k in (3, 5) if k < len(answer.classes)}
    assert kept.result.top_k_accuracy == answer.top_k_accuracy == expected
    np.testing.assert_array_equal(again.content, images.content)
    np.testing.assert_array_equal(again.rank, images.rank)


@pytest.mark.full_but("files")
@pytest.mark.parametrize("kind", ["files", "arrays"])
def test_an_image_is_found_by_its_place(train_here, small_project, tmp_path, kind):
    """Also behind edits that leave images out, and where the split has drawn it."""
    made = small_project(classes=3, epochs=1, batch_size=16, test_share=0.2)
    if kind == "files":
        folder = write_stripes(tmp_path / "data", 120)
        made = small_project(classes=2, epochs=1, batch_size=16, test_share=0.2)
        choice = Choice("folder", {"path": str(folder)})
        made = replace(made, dataset=choice, edits=edits_for(folder))
    trained = train_here(made)
    _, images = kept_images(trained.run)
    card = trained.run.model_card()
    edits = edits_of(card.dataset.get("edits", {}))
    ctx = PlainContext(tmp_path / "cache")
    loaded = load_source(ctx, card.dataset["key"], card.dataset["params"], edits)
    assert len(images) == card.test.count
    rows = run_test_part(ctx, card)[0].x[:]
    np.testing.assert_allclose(images.brightness, rows.mean(axis=(1, 2, 3)), rtol=1e-4)
    if kind == "files":
        for number, size in enumerate(images.sizes.tolist()):
            with Image.open(images.file(number)) as image:
                assert size == list(image.size)
    for number in range(len(images)):
        place = images.place(number)
        part = getattr(loaded, place.part)
        assert part.labels[place.index] == images.actual[number]
        if isinstance(part, FilePart):
            content = content_of_file(part.paths[place.index])
            assert images.file(number) == part.paths[place.index]
        else:
            content = content_of_pixels(np.asarray(part.pictures[place.index]))
        assert content.hex() == images.content_of(number)


def test_thresholds_are_tried_on_the_test_images(train_here, small_project, service):
    trained = train_here(small_project(classes=3, epochs=1, batch_size=16, test_share=0.2))
    model = str(trained.run.path)
    answer = service.done(Evaluate, model=model, wish=Wish(), top=[1])
    validation = service.done(Evaluate, model=model, part="validation")
    kept = known_scores(trained.run).evaluations
    chosen_on = read_class_scores(trained.run, kept["validation"])
    tried_on = read_class_scores(trained.run, kept["test"])
    assert answer.top_k_accuracy[1] == answer.accuracy
    assert kept["test"].result.thresholds == []
    for number, found in enumerate(answer.thresholds):
        own = chosen_on.probabilities[:, number]
        best = max(
            f1_score(chosen_on.actual == number, own >= limit, zero_division=0) for limit in own
        )
        assert found.validation.f1 == pytest.approx(best)
        taken = tried_on.probabilities[:, number].astype(np.float64) >= found.threshold
        assert found.found.f1 == pytest.approx(
            f1_score(tried_on.actual == number, taken, zero_division=0)
        )
        assert found.found.right + found.found.missed == answer.per_class[number].count
    precise = service.done(Evaluate, model=model, wish=Wish("precision", precision=1.0))
    assert all(each.threshold is None or each.validation.wrong == 0 for each in precise.thresholds)
    free = Wish("unknown", false_alarm=1, miss=0)
    unknown = service.done(Evaluate, model=model, wish=free).unknown
    assert unknown.cost <= unknown.cost_without
    assert unknown.validation_cost == 0
    refused = service.failed(Evaluate, model=model, part="validation", wish=Wish())
    assert "which these are" in refused.what
    assert validation.part == "validation"
