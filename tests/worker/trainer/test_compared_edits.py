"""Two trained runs, one on edited test images: what comparing them says of their test figures."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from tests.class_folders import write_stripes
from workbench.cli import main
from workbench.core.projects.data_edits import DataEdits
from workbench.core.projects.project import Choice
from workbench.protocol.trained.evaluate import Evaluate
from workbench.runs.library.compare import compare_runs
from workbench.runs.library.compare_images import compare_images, scores_of
from workbench.runs.store.image_scores import remove_image_scores

pytestmark = pytest.mark.worker

SURE = "Data edits: 1 label differs, 1 image left out; test figures are of different labels"


def trained(trainer, project):
    one = trainer(project)
    assert one.finish().outcome == "completed"
    return one.run


def result_rows(comparison):
    return {row.title: (row.left, row.right) for row in comparison.sections[0].rows}


def test_a_relabeled_and_a_left_out_test_image(trainer, small_project, tmp_path, capsys):
    folder = write_stripes(tmp_path / "data", 120)
    project = small_project(epochs=2, batch_size=16, test_share=0.2)
    project = replace(project, dataset=Choice("folder", {"path": str(folder)}))
    before = trained(trainer, project)
    here = scores_of(before)
    relabeled, left_out = here.images.content_of(0), here.images.content_of(1)
    label = here.names[(here.images.actual[0] + 1) % 3]
    edits = DataEdits(labels={relabeled: label}, left_out=frozenset({left_out}))
    after = trained(trainer, replace(project, edits=edits))

    comparison = compare_runs(before, after)
    assert comparison.edits.words == SURE
    assert not comparison.is_equal
    assert result_rows(comparison)["Test images labeled differently"] == ("–", "1")

    found = compare_images(here, scores_of(after))
    assert np.flatnonzero(found.is_relabeled).tolist() == [0]
    assert not found.is_common[1]
    assert found.is_common.sum() == len(here.images) - 1
    assert not (found.is_gained | found.is_lost)[0]
    assert here.names[found.actual[0]] == label

    assert main(["compare", str(before.path), str(after.path), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)["data_edits"]
    assert (answer["labels"], answer["left_out"]) == (1, 1)
    assert answer["test_labels_differ"] is True
    assert answer["test_images_differ"] is True

    # The images of one test are enough to know where the edited images are.
    remove_image_scores(after, "test")
    assert scores_of(after) is None
    assert compare_runs(before, after).edits.words == SURE
    assert compare_runs(after, before).edits.words == SURE


@pytest.mark.full
def test_an_edited_training_image_leaves_the_test_as_it_is(
    trainer, service, small_project, tmp_path
):
    folder = write_stripes(tmp_path / "data", 120)
    project = small_project(epochs=1, batch_size=16, test_share=0.2)
    project = replace(project, dataset=Choice("folder", {"path": str(folder)}))
    before = trained(trainer, project)
    service.done(Evaluate, model=str(before.path), part="train")
    images = scores_of(before, "train").images
    edits = DataEdits(left_out=frozenset({images.content_of(0)}))
    after = trained(trainer, replace(project, edits=edits))
    assert compare_runs(before, after).edits.words == (
        "Data edits: 1 image left out; test images and labels are the same"
    )
    remove_image_scores(before, "test")
    assert compare_runs(before, after).edits.words == (
        "Data edits: 1 image left out; test figures may be of different images"
    )
