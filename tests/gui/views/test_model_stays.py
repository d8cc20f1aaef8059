"""The model that is chosen, or shown, stays; another that is ready is offered."""

from __future__ import annotations

import shutil
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from tests.gui.views.scripted import ScriptedService, give_weights
from tests.planted_kinds import KINDS, plant_kind
from tests.written_runs import WrittenRun
from workbench.core.projects.project import Project, new_project_id
from workbench.gui.classify.view import ClassifyView
from workbench.gui.common.context import WindowState
from workbench.gui.common.weights import WeightsLoader
from workbench.gui.evaluate.view import EvaluateView
from workbench.gui.panels import panels_of
from workbench.protocol.classify import Classify
from workbench.runs.folder import SweepPoint
from workbench.runs.home import runs_home
from workbench.runs.library.index import list_runs
from workbench.runs.library.projects import default_models

FLOWERS = Project(id=new_project_id(), title="flowers")

VIEWS = {"classify": ClassifyView, "evaluate": EvaluateView}


def begun(name="flowers", **values):
    run = WrittenRun(name, project=FLOWERS, **values).begin().train(1)
    give_weights(run)
    return run


def swept(place, val_accuracy, *, is_over=True):
    point = SweepPoint(place=place, combination=place, values={"learning_rate": f"0.{place}"})
    run = WrittenRun("flowers", project=FLOWERS, series="s-1", point=point).begin()
    run.batches([1.0] * 10)
    run.epoch(1, val_accuracy=val_accuracy)
    give_weights(run)
    return run.finish() if is_over else run


@pytest.fixture
def service():
    return ScriptedService()


@pytest.fixture
def state(context, tmp_path):
    return WindowState(context.settings, tmp_path / "window.ini")


@pytest.fixture
def make_view(show_view, context, service, state):
    """A function that shows a view of the open project, with what is kept of earlier windows."""
    context.service.end()
    weights = WeightsLoader(context.document, context.library, service)
    parts = replace(context, service=service, weights=weights)

    def make(kind, key):
        return show_view(kind(parts, panels_of(key), state), 1200, 800)

    return make


@pytest.fixture
def first(context, open_library):
    run = begun().finish()
    open_library()
    context.document.restore(FLOWERS)
    return run


@pytest.fixture
def classify(first, make_view):
    return make_view(ClassifyView, "classify")


def refresh(qtbot, library):
    with qtbot.waitSignal(library.runs_changed):
        library.refresh()


def test_the_model_of_a_picture_stays_while_another_trains_and_after(
    qtbot, classify, first, context, service
):
    library, chooser = context.library, classify.chooser
    classify.classify(["/cat.png"])
    assert service.answer_pictures().model == str(first.path)
    training = begun()
    library.select(training.path)
    refresh(qtbot, library)
    assert chooser.path == first.path
    assert not chooser.offer.isVisible()
    training.finish()
    refresh(qtbot, library)
    assert chooser.path == first.path
    assert chooser.offer.text() == "Run 2 is ready: use it"
    assert not [each for each, _ in service.asked if isinstance(each, Classify)]
    QTest.mouseClick(chooser.offer, Qt.MouseButton.LeftButton)
    assert chooser.path == training.path
    assert service.answer_pictures().model == str(training.path)
    assert not chooser.offer.isVisible()


def test_a_chosen_older_model_is_not_argued_with(qtbot, classify, context):
    second = begun().finish()
    context.library.select(second.path)
    refresh(qtbot, context.library)
    first = classify.chooser.box.itemData(1)
    classify.chooser.box.activated.emit(1)
    assert str(classify.chooser.path) == first
    assert not classify.chooser.offer.isVisible(), "run 2 was there when run 1 was chosen"
    begun().finish()
    refresh(qtbot, context.library)
    assert str(classify.chooser.path) == first
    assert classify.chooser.offer.text() == "Run 3 is ready: use it"


def test_the_model_that_follows_a_deleted_one_stays_as_well(
    qtbot, classify, first, context, service
):
    library, chooser = context.library, classify.chooser
    chooser.choose(first.path)
    second = begun().finish()
    shutil.rmtree(first.path)
    library.refresh()
    qtbot.waitUntil(lambda: chooser.path == second.path)
    classify.classify(["/cat.png"])
    assert service.answer_pictures().model == str(second.path)
    third = begun("later").finish()  # not in the folder of the first, within the same second
    library.select(third.path)
    library.refresh()
    qtbot.waitUntil(chooser.offer.isVisible)
    assert chooser.path == second.path


@pytest.mark.parametrize("key", VIEWS)
def test_the_chosen_model_is_that_of_the_next_window(qtbot, first, make_view, context, key):
    kind = VIEWS[key]
    begun().finish()
    refresh(qtbot, context.library)
    make_view(kind, key).chooser.choose(first.path)
    begun(series="folds").finish()
    again = make_view(kind, key)
    assert again.chooser.path == first.path
    refresh(qtbot, context.library)
    assert again.chooser.path == first.path
    assert again.chooser.offer.isHidden(), "a fold is not offered"


def test_folds_sweep_losers_and_unfinished_runs_are_no_defaults(context, open_library, make_view):
    whole = begun().finish()
    best, loser = swept(1, 0.9), swept(2, 0.7)
    fold = begun(series="folds").finish()
    failed = begun().finish("failed")
    live = begun()
    found = [run.path for run in default_models(list_runs(runs_home()))]
    assert found == [best.path, whole.path]
    assert not {loser.path, fold.path, failed.path, live.path} & set(found)
    open_library()
    context.document.restore(FLOWERS)
    library = context.library
    library.select(fold.path)
    assert library.default_model().path == best.path
    assert library.current_model() is None
    library.select(fold.path, by_user=True)
    assert library.current_model().path == fold.path
    live.finish()


def test_a_sweep_has_no_best_run_before_its_end():
    whole = begun().finish()
    swept(1, 0.9)
    live = swept(2, 0.7, is_over=False)
    assert [run.path for run in default_models(list_runs(runs_home()))] == [whole.path]
    live.finish()


def test_a_first_run_in_training_answers_where_the_user_says_so(
    qtbot, context, open_library, make_view
):
    live = begun()
    open_library()
    context.document.restore(FLOWERS)
    view = make_view(ClassifyView, "classify")
    assert view.chooser.path is None
    assert view.empty.title.text() == "Training is under way"
    QTest.mouseClick(view.empty.action, Qt.MouseButton.LeftButton)
    assert view.chooser.path == live.path
    live.finish()


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_file_in_place_of_places_neither_holds_nor_ends_the_window(
    context, tmp_path, kind
):
    path = tmp_path / "window.ini"
    plant_kind(path, kind)
    before = path.lstat()
    state = WindowState(context.settings, path)
    state.set_folder("images", "somewhere")
    assert state.folder("images") == "somewhere"
    del state
    assert (path.lstat().st_mode, path.lstat().st_size) == (before.st_mode, before.st_size)
