"""Recent predictions are there again after a restart, by the paths of their pictures alone."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from tests.gui.views.scripted import ScriptedService, words_below
from workbench.core.projects.project import new_project_id
from workbench.gui.classify.answers import MOST_PICTURES
from workbench.gui.classify.view import ClassifyView
from workbench.gui.common.weights import WeightsLoader
from workbench.gui.panels import panels_of
from workbench.protocol.bases import ErrorParts
from workbench.protocol.classify import Classified, Classify
from workbench.protocol.messages import Done
from workbench.protocol.trained.evaluate import TestPicture
from workbench.runs.home import data_home
from workbench.runs.library.projects import OpenProject


@pytest.fixture
def restarted(show_view, context, measurer):
    """Makes the view of another start, with a service that the test answers for."""

    def make():
        service = ScriptedService()
        weights = WeightsLoader(context.document, context.library, service)
        parts = replace(context, service=service, measurer=measurer, weights=weights)
        return show_view(ClassifyView(parts, panels_of("classify")), 1200, 800), service

    return make


def open_project(context):
    """Another project is open; returns the run that answers there."""
    mine = OpenProject.of(replace(context.document.project, id=new_project_id()), "", "mine")
    run = context.library.runs[0].path
    context.library.set_project(mine)
    return run


def kept():
    found = json.loads((data_home() / "recent_predictions.json").read_text("utf-8"))
    return [file for files in found["projects"].values() for file, _ in files]


def answered(qtbot, view, service, count):
    service.answer_pictures()
    strip = view.panels["classify_earlier"].strip
    qtbot.waitUntil(lambda: strip.num_tiles == count)
    return strip


def test_they_are_classified_again_after_a_restart(qtbot, ready, service, restarted, context):
    run = open_project(context)
    ready.state.set_run(run, "cifar")
    paths = [f"/x/{number}.png" for number in range(MOST_PICTURES + 3)]
    ready.classify(paths)
    answered(qtbot, ready, service, len(paths))
    ready.state.classify_test_picture(TestPicture(index=5, path="/x/passing.png", label="cat"))
    answered(qtbot, ready, service, len(paths) + 1)
    ready.state.background.finish()
    assert kept() == paths[3:]  # the latest, and no file that is gone with the window
    ready.close()

    view, service = restarted()
    view.state.set_run(run, "cifar", is_wanted=True)
    qtbot.waitUntil(lambda: any(isinstance(each, Classify) for each, _ in service.asked))
    request, answer = service.take(Classify)
    assert request.pictures == paths[3:]
    gone = ErrorParts(what="The file is gone.")
    for path in request.pictures:
        answer(Classified(file=path, error=gone))
    answer(Done(id=1))
    strip = view.panels["classify_earlier"].strip
    qtbot.waitUntil(lambda: strip.num_tiles == MOST_PICTURES)
    assert set(words_below(strip)) == {"cannot be read"}
    assert view.panels["classify_result"].entry is None  # nobody has asked for one of them


def test_each_project_has_its_own(qtbot, ready, service, restarted, context):
    run = open_project(context)
    ready.state.set_run(run, "cifar")
    ready.classify(["/x/a.png"])
    answered(qtbot, ready, service, 1)
    ready.state.background.finish()
    ready.close()
    assert kept() == ["/x/a.png"]
    run = open_project(context)
    view, service = restarted()
    view.state.set_run(run, "cifar", is_wanted=True)
    read: list[None] = []
    view.state.background.run(lambda: None, read.append)  # after what was kept was read
    qtbot.waitUntil(lambda: bool(read))
    assert not any(isinstance(each, Classify) for each, _ in service.asked)
