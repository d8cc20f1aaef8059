"""CheckData and ShowFound through a real service worker."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from tests.class_folders import smooth_photo, write_photos
from tests.planted_images import mislabel
from workbench.core.data_check.findings import FoundImage
from workbench.core.projects.data_edits import DataEdits
from workbench.core.projects.project import Choice, Project
from workbench.core.projects.project_file import project_text
from workbench.protocol.data_check import (
    CheckData,
    DataCheckReport,
    DataFindings,
    FoundThumbnails,
    ShowFound,
)
from workbench.protocol.messages import Cancel, Failed, Progress
from workbench.protocol.service_call import ServiceCall

pytestmark = pytest.mark.worker

SIZE = (60, 40)


@pytest.fixture(scope="module")
def service():
    with ServiceCall() as service:
        yield service


def folder_of(path, count):
    write_photos(path, count, SIZE)
    return Project(dataset=Choice("folder", {"path": str(path), "fit": "crop"}))


def check(service, project, **more):
    answers = list(service.answers(CheckData(id=1, project=project_text(project), **more)))
    findings = [f for each in answers if isinstance(each, DataFindings) for f in each.findings]
    return findings, answers


def test_progress_then_findings_then_the_report(service, tmp_path):
    project = folder_of(tmp_path / "data", 70)
    for number in range(3):
        smooth_photo(number, SIZE).save(tmp_path / "data" / "dog" / f"cat{number}.png")
    findings, answers = check(service, project)
    assert {f.rule for f in findings} == {"duplicate"}
    assert len(findings) == 3
    assert any(isinstance(each, Progress) and each.fraction for each in answers)
    report = answers[-1]
    assert isinstance(report, DataCheckReport)
    assert (report.num_images, report.has_checked_labels) == (143, False)
    assert [(c.rule, c.total, c.listed) for c in report.counts] == [("duplicate", 3, 3)]


def test_very_many_findings_are_sent_in_parts_and_counted(service, tmp_path):
    project = folder_of(tmp_path / "data", 2)
    for number in range(1300):
        (tmp_path / "data" / "cat" / f"broken{number}.jpg").write_bytes(b"%d" % number)
    findings, answers = check(service, project)
    findings = [each for each in findings if each.rule == "unreadable"]
    assert len(findings) == 1000
    assert sum(isinstance(each, DataFindings) for each in answers) > 1
    assert [(c.total, c.listed) for c in answers[-1].counts if c.rule == "unreadable"] == [
        (1300, 1000)
    ]


def test_edits_do_not_hide_findings_but_classes_that_are_left_out_do(service, tmp_path):
    project = folder_of(tmp_path / "data", 4)
    (tmp_path / "data" / "dog" / "x.png").write_bytes(b"no image")
    (tmp_path / "data" / "bird").mkdir()
    smooth_photo(9, SIZE).save(tmp_path / "data" / "bird" / "1.png")
    smooth_photo(10, SIZE).save(tmp_path / "data" / "bird" / "2.png")

    def check_files(project):
        """Without that so few images leave a part without one of a class."""
        findings, answers = check(service, project)
        return [each for each in findings if each.rule != "absent_class"], answers

    (finding,), _ = check_files(project)
    edits = DataEdits(left_out=frozenset({finding.images[0].content}))
    again, _ = check_files(Project(dataset=project.dataset, edits=edits))
    assert [each.key for each in again] == [finding.key]
    without = Project(dataset=project.dataset, edits=DataEdits(classes={"dog": ""}))
    found, answers = check_files(without)
    assert (found, answers[-1].num_images) == ([], 6)


def test_it_is_canceled_and_the_worker_goes_on(service, tmp_path):
    project, small = folder_of(tmp_path / "data", 2), folder_of(tmp_path / "small", 2)
    large = tmp_path / "large.png"
    smooth_photo(5, (4000, 3000)).save(large)
    for number in range(300):  # a minute of decoding
        (tmp_path / "data" / "cat" / f"large{number}.png").hardlink_to(large)
    answers = []
    for answer in service.answers(CheckData(id=1, project=project_text(project))):
        if not answers:
            service.send(Cancel(id=9, target=1))
        answers.append(answer)
    assert isinstance(answers[-1], Failed)
    assert answers[-1].error.what == "Canceled."
    assert check(service, small)[1][-1].num_images == 4


def test_what_cannot_be_checked_is_refused_in_words(service, tmp_path):
    gone = Project(dataset=Choice("folder", {"path": str(tmp_path / "gone"), "fit": "crop"}))
    _, answers = check(service, gone)
    assert answers[-1].error.what == "There is no such folder."
    (answer,) = service.answers(CheckData(id=2, project="{"))
    assert isinstance(answer, Failed)


def found_image(file="", origin="train", index=0):
    return FoundImage("0" * 32, file, origin, index, "a", "a", "train")


def test_small_images_of_files_and_those_that_are_gone(service, tmp_path):
    project = folder_of(tmp_path / "data", 2)
    big = tmp_path / "data" / "cat" / "0.png"
    smooth_photo(1, (600, 400)).save(big)
    images = [found_image(str(big)), found_image(str(tmp_path / "gone.png"))]
    (answer,) = (
        each
        for each in service.answers(
            ShowFound(id=5, source="folder", params=dict(project.dataset.params), images=images)
        )
        if isinstance(each, FoundThumbnails)
    )
    first, second = answer.paths
    assert second == ""
    with Image.open(first) as small:
        assert small.size == (96, 64)


def test_small_images_that_are_in_no_file(service, tmp_path):
    arrays = {
        part: np.random.default_rng(at).integers(0, 256, (6, 20, 30, 3), np.uint8)
        for at, part in enumerate(("x_train", "x_test"))
    }
    labels = {part: np.arange(6) % 2 for part in ("y_train", "y_test")}
    np.savez(tmp_path / "set.npz", **arrays, **labels)
    images = [found_image(index=2), found_image(origin="test", index=3), found_image(index=99)]
    images.append(found_image(origin="validation"))
    request = ShowFound(
        id=6, source="npz", params={"path": str(tmp_path / "set.npz")}, images=images
    )
    answer = list(service.answers(request))[-1]
    assert answer.paths[2:] == ["", ""]
    for path, expected in zip(
        answer.paths, (arrays["x_train"][2], arrays["x_test"][3]), strict=False
    ):
        assert np.array_equal(np.asarray(Image.open(path)), expected)


@pytest.mark.full
def test_wrong_labels_of_photos_rank_first(service, shared_data, tmp_path):
    wrong, total = mislabel(shared_data / "flowers", tmp_path / "data", share=0.05, seed=3, most=60)
    project = Project(dataset=Choice("folder", {"path": str(tmp_path / "data"), "fit": "crop"}))
    findings, answers = check(service, project, labels=True)
    assert answers[-1].has_checked_labels
    doubted = [each for each in findings if each.rule == "suspicious_label"]
    ranked = [each.images[0].file for each in doubted]
    found = wrong & set(ranked)
    assert len(ranked) <= total // 10
    assert len(found) >= 0.6 * len(wrong)
    assert len(found) >= 0.6 * len(ranked)
    assert [each.score for each in doubted] == sorted((e.score for e in doubted), reverse=True)
    for each in doubted:
        assert each.evidence.given < each.evidence.suggested
        assert len(each.evidence.nearest) == 3
    assert any("Estimated share of wrong labels" in note for note in answers[-1].notes)
