"""A report of whatever there is: what is missing is named with its reason, and never an error."""

from __future__ import annotations

import json

import pytest

from tests.report.documents import page_of, written_run
from tests.written_runs import WrittenRun
from workbench.core.projects.project import Project
from workbench.core.projects.project_file import project_to_plain
from workbench.errors import RunFolderError
from workbench.protocol.bases import ErrorParts
from workbench.report.facts import Scored, read_facts
from workbench.runs.folder import RunFolder, create_run


def test_a_run_that_never_began():
    from tests.report.documents import Page
    from workbench.report.page import page
    from workbench.report.write import compose

    run = create_run(Project(title="Empty"))
    shown = Page(page(compose(read_facts(run))))
    assert "There are no curves" in shown.text
    assert "The network is not drawn" in shown.text
    assert "There is no confusion matrix. The run has no trained weights." in shown.text


def test_a_run_that_still_trains_says_so():
    run = written_run(finish=False)
    _, page = page_of(run)
    assert "What comes later is not in this report." in page.text
    assert "3 epochs logged." in page.text
    run.end()


def test_a_failed_run_has_its_reason():
    run = WrittenRun("Broken", epochs=3).begin().train(1)
    run.finish("failed", ErrorParts(what="The loss is not finite.", fix="Lower the rate."))
    _, page = page_of(run)
    assert "The loss is not finite." in page.text
    assert len(page.all("svg")) >= 1


def test_a_diverged_run_is_drawn():
    run = WrittenRun("NaN", epochs=2).begin()
    run.batches([1.0, None, None], [0.5, None, None])
    _, page = page_of(run.finish())
    assert page.broken == []


def test_images_that_are_gone_are_named():
    _, page = page_of(written_run(), Scored(problem="The folder of the images is gone."))
    assert "No test images are shown. The folder of the images is gone." in page.text


def test_a_damaged_project_still_has_its_curves():
    run = written_run()
    plain = project_to_plain(run.folder.project())
    text = json.dumps(json.loads(run.folder.request_path.read_text()))
    run.folder.request_path.write_text(text.replace('"nodes"', '"knots"'))
    assert plain["graph"]["nodes"]
    _, page = page_of(run)
    assert "The network is not" in page.text
    assert "Curves of loss and accuracy" in str(page.all("svg"))


def test_what_is_no_run_is_refused(tmp_path):
    with pytest.raises(RunFolderError):
        read_facts(RunFolder(tmp_path))
