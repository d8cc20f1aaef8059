"""The open project and its runs: all views show them first, and warn of those of others."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from tests.gui.views.scripted import ScriptedService, cat, give_weights, words_below
from workbench.core.projects.project import Project, new_project_id
from workbench.gui.classify.view import ClassifyView
from workbench.gui.common.weights import WeightsLoader
from workbench.gui.evaluate.view import EvaluateView
from workbench.gui.panels import panels_of
from workbench.gui.train.runs.run_model import SUMMARY_ROLE, eye_rect
from workbench.gui.train.view import TrainView
from workbench.protocol.bases import ErrorParts
from workbench.protocol.classify import Classify, Score
from workbench.protocol.messages import Done, Failed
from workbench.protocol.trained.evaluate import TestPicture
from workbench.templates import find_template

FLOWERS = Project(id=new_project_id(), title="flowers")
FASHION = Project(id=new_project_id(), title="fashion")
SMALL_PX = (1_000, 560)
"""The view in a window of 1024 x 700."""


@pytest.fixture
def trained(written):
    """A finished run of a project, with (the names of) weights."""

    def make(project):
        run = written(project.title, project=project).begin().train(1)
        give_weights(run)
        return run.finish()

    return make


@pytest.fixture
def service():
    return ScriptedService()


@pytest.fixture
def classify(show_view, context, service):
    context.service.end()
    weights = WeightsLoader(context.document, context.library, service)
    return show_view(
        ClassifyView(replace(context, service=service, weights=weights), panels_of("classify")),
        1200,
        800,
    )


@pytest.fixture
def both(trained, open_library):
    """Runs of two projects; the newest is of fashion."""
    runs = trained(FLOWERS), trained(FASHION)
    open_library()
    return runs


def choose_by_mouse(qtbot, box, row):
    """Opens a drop-down and clicks a row."""
    QTest.mouseClick(box, Qt.MouseButton.LeftButton)
    items = box.view()
    qtbot.waitUntil(items.isVisible)
    place = items.visualRect(box.model().index(row, 0)).center()
    QTest.mouseClick(items.viewport(), Qt.MouseButton.LeftButton, pos=place)
    QTest.keyClick(items, Qt.Key.Key_Return)


def test_a_project_is_answered_by_its_own_newest_run(both, classify, context):
    flowers, fashion = both
    context.document.restore(FLOWERS)
    assert context.library.current.run.path == flowers.path
    assert classify.chooser.path == flowers.path
    box = classify.chooser.box
    assert [box.itemText(i).split(" · ")[0] for i in range(box.count())] == ["1", "", "fashion: 1"]
    context.document.restore(FASHION)
    assert context.library.current.run.path == classify.chooser.path == fashion.path
    assert not classify.state.note


def test_a_project_without_a_run_shows_none_of_another(qtbot, both, classify, context):
    train = TrainView(context, panels_of("train"))
    evaluate = EvaluateView(context, panels_of("evaluate"))
    for view in (train, evaluate):
        qtbot.addWidget(view)
        view.show()
    context.document.new(find_template("lenet5").project)
    assert context.library.current is None
    for view in (train, evaluate, classify):
        assert view.empty.isVisible()
    assert not evaluate.start.isVisible()
    assert evaluate.chooser.box.isVisible()
    for view in (train, evaluate):
        view.close_background()


def test_while_a_run_trains_the_empty_views_say_so(qtbot, both, classify, context):
    evaluate = EvaluateView(context, panels_of("evaluate"))
    qtbot.addWidget(evaluate)
    context.document.new(find_template("lenet5").project)
    library = context.library
    empty = classify.empty, evaluate.empty
    assert [page.title.text() for page in empty] == ["Train a model first"] * 2
    project = library.project.id
    live = {"project_id": project, "outcome": "running", "has_model": False}
    library.runs = [msgspec.structs.replace(library.runs[0], **live)]
    library.runs_changed.emit()
    assert [page.title.text() for page in empty] == ["Training is under way"] * 2
    assert [page.action.isHidden() for page in empty] == [True] * 2
    assert not classify.empty.second.isHidden()
    evaluate.close_background()


@pytest.fixture
def train(qtbot, context):
    train = TrainView(context, panels_of("train"))
    train.resize(1300, 800)
    qtbot.addWidget(train)
    with qtbot.waitExposed(train):
        train.show()
    yield train
    train.close_background()


def listed(train):
    model = train.panels["train_runs"].list.model()
    return [model.index(row, 0).data(SUMMARY_ROLE).path for row in range(model.rowCount())]


def test_folded_away_are_all_runs_that_are_not_of_the_project_just_opened(both, train, context):
    flowers, fashion = both
    context.document.restore(FLOWERS)
    assert listed(train) == [flowers.path]
    context.document.new(find_template("lenet5").project)
    assert listed(train) == []
    assert train.panels["train_runs"].others.text() == "▸ 2 runs of other projects"
    context.document.restore(FASHION)
    assert listed(train) == [fashion.path]


def test_runs_overlaid_in_one_project_are_not_in_the_next(qtbot, both, train, context):
    _flowers, fashion = both
    context.document.restore(FLOWERS)
    QTest.mouseClick(train.panels["train_runs"].others, Qt.MouseButton.LeftButton)
    view = train.panels["train_runs"].list
    row = listed(train).index(fashion.path)
    place = eye_rect(view.visualRect(view.model().index(row, 0))).center()
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    qtbot.waitUntil(lambda: bool(train.plots.by_key["loss"].overlays))
    context.document.restore(replace(FLOWERS, title="tulips"))  # the same project
    assert context.library.shown == {fashion.path}
    context.document.new(find_template("lenet5").project)
    assert context.library.shown == set()
    assert not train.plots.by_key["loss"].overlays
    assert not train.plots.legend.isVisible()
    assert not train.state.overlays.colors


def test_a_network_that_has_changed_since_the_run_is_remarked_on(
    qtbot, trained, train, context, open_library
):
    lenet = replace(find_template("lenet5").project, id=new_project_id(), title="lenet")
    run, other = trained(lenet), trained(FLOWERS)
    open_library()
    document, panel = context.document, train.panels["train_recipe"]
    document.restore(lenet)
    qtbot.waitUntil(lambda: panel._run_project is not None)
    panel.take.click()  # its settings
    assert context.library.current.run.path == run.path
    assert panel.other.note() == "same settings"
    (conv, *_) = [node.id for node in document.graph.nodes.values() if "filters" in node.params]
    document.move({conv: (900.0, 900.0)})
    assert panel.other.note() == "same settings", "only its place has changed"
    train.hide()
    document.set_params(conv, filters=99)
    train.show()
    assert panel.other.note() == "network differs"
    panel.other.head.click()
    assert panel.network.text() == (
        "The network has changed since this run: conv2d filters 6 → 99."
    )
    assert not panel.take.isVisible(), "its settings are the same"
    document.undo_stack.undo()
    assert panel.other.note() == "same settings"
    context.library.select(other.path)
    qtbot.waitUntil(lambda: panel._run_project is not None)
    assert not panel.network.isVisible(), "another project has another network"


def test_a_model_of_another_project_is_warned_of(qtbot, both, classify, context):
    _, fashion = both
    context.document.restore(FLOWERS)
    choose_by_mouse(qtbot, classify.chooser.box, 2)
    assert classify.chooser.path == fashion.path
    card = classify.panels["classify_result"]
    assert card.note.text() == "This model is of another project: fashion."
    evaluate = EvaluateView(context, panels_of("evaluate"))
    qtbot.addWidget(evaluate)
    evaluate.show()
    assert not evaluate.note.isVisible()
    context.library.select(fashion.path)
    assert evaluate.note.text() == "This model is of another project: fashion."
    assert evaluate.note.isVisible()
    evaluate.close_background()


def test_the_warning_of_another_project_is_whole_in_a_small_window(
    qtbot, trained, open_library, classify, service
):
    title = "Photographs of the orchard behind the house, second summer"
    other = trained(replace(FASHION, title=title))
    open_library()
    classify.state.context.document.restore(FLOWERS)
    classify.chooser.choose(other.path)
    classify.resize(*SMALL_PX)
    classify.classify(["/one.png"])  # the card waits for a picture
    _, answer = service.take(Classify)
    scores = [Score(name=f"class {number}", probability=0.05) for number in range(20)]
    with qtbot.waitSignal(classify.state.shown):
        answer(cat("/one.png", label="class 0", scores=scores))
        answer(Done(id=1))
    card = classify.panels["classify_result"]
    qtbot.waitUntil(lambda: classify.width() == SMALL_PX[0] and card.note.isVisible())
    assert card.note.text() == f"This model is of another project: {title}."
    qtbot.waitUntil(lambda: card.note.height() >= card.note.heightForWidth(card.note.width()))
    assert len(card.bars.scores) == 20
    assert card.classes.geometry().bottom() < card.height(), "it pushes nothing out of the card"
    assert card.label.geometry().top() > card.note.geometry().bottom()


def test_another_model_answers_all_pictures_again(qtbot, both, classify, context, service):
    context.document.restore(FLOWERS)
    classify.classify(["/one.png", "/two.png"])
    service.answer_pictures()
    strip = classify.panels["classify_earlier"].strip
    card = classify.panels["classify_result"]
    qtbot.waitUntil(lambda: strip.num_tiles == 2)
    assert card.label.full_text == "cat"
    choose_by_mouse(qtbot, classify.chooser.box, 2)
    assert words_below(strip) == ["…", "…"]
    assert card.label.full_text == "Classifying…"
    assert card.bars.scores == []
    strip.clicked.emit(strip.model().index(0, 0))  # its old answer does not come back
    assert card.label.full_text == "Classifying…"
    request, answer = service.take(Classify)
    assert request.model == str(classify.chooser.path)
    assert request.pictures == ["/one.png", "/two.png"]
    bag = [Score(name="bag", probability=0.6)]
    for path in request.pictures:
        answer(cat(path, label="bag", scores=bag))
    answer(Done(id=2))
    qtbot.waitUntil(lambda: words_below(strip) == ["bag 60.0%", "bag 60.0%"])
    assert card.label.full_text == "bag"
    assert card.caption.text().startswith("1 · lr")


def test_answers_of_the_earlier_model_that_come_late_do_not_count(
    qtbot, both, classify, context, service
):
    context.document.restore(FLOWERS)
    classify.classify(["/one.png"])
    _, late = service.take(Classify)
    choose_by_mouse(qtbot, classify.chooser.box, 2)
    late(cat("/one.png"))
    late(Done(id=1))
    again = service.answer_pictures()
    assert (again.pictures, again.model) == (["/one.png"], str(classify.chooser.path))
    strip = classify.panels["classify_earlier"].strip
    qtbot.waitUntil(lambda: strip.num_tiles == 1)


def test_a_model_that_cannot_answer_leaves_no_old_answer(qtbot, both, classify, context, service):
    context.document.restore(FLOWERS)
    classify.classify(["/one.png"])
    service.answer_pictures()
    strip = classify.panels["classify_earlier"].strip
    qtbot.waitUntil(lambda: strip.num_tiles == 1)
    choose_by_mouse(qtbot, classify.chooser.box, 2)
    _, answer = service.take(Classify)
    answer(Failed(id=1, error=ErrorParts(what="The weights file is damaged.")))
    card = classify.panels["classify_result"]
    assert card.label.full_text == "No prediction from this model"
    classify.chooser.choose(Path(classify.chooser.box.itemData(0)))
    service.answer_pictures()
    qtbot.waitUntil(lambda: words_below(strip) == ["cat 90.0%"])


def test_each_project_has_its_own_pictures(qtbot, both, classify, context, service):
    """Those of another are neither shown nor classified; they come back with their project."""
    strip, card = classify.panels["classify_earlier"].strip, classify.panels["classify_result"]
    context.document.restore(FASHION)
    classify.state.classify_test_picture(TestPicture(index=7, path="/shirt.png", label="dog"))
    service.answer_pictures()
    qtbot.waitUntil(lambda: strip.num_tiles == 1)
    classify.classify(["/bag.png", "/shoe.png"])
    service.answer_pictures()
    qtbot.waitUntil(lambda: strip.num_tiles == 3)
    assert card.entry.name == "bag.png"
    context.document.restore(FLOWERS)
    assert classify.chooser.path == both[0].path
    assert strip.num_tiles == 0
    assert strip._hint
    assert card.label.full_text == "No prediction yet"
    assert card.picture.image.isNull()
    assert card.truth.full_text == ""
    assert not any(isinstance(request, Classify) for request, _ in service.asked)
    classify.classify(["/daisy.png"])
    assert service.answer_pictures().pictures == ["/daisy.png"]
    qtbot.waitUntil(lambda: card.entry is not None)
    context.document.restore(FASHION)
    assert strip.num_tiles == 0
    request = service.answer_pictures()
    assert request.pictures == ["/shirt.png", "/bag.png", "/shoe.png"]
    assert request.model == str(both[1].path)
    qtbot.waitUntil(lambda: strip.num_tiles == 3)
    assert card.entry.name == "bag.png"
    strip.clicked.emit(strip.model().index(2, 0))
    assert card.truth.full_text == "Wrong (label: dog)"


def test_answers_that_come_after_a_change_of_project_are_dropped(
    qtbot, both, classify, context, service
):
    context.document.restore(FASHION)
    strip = classify.panels["classify_earlier"].strip
    classify.classify([f"/{number}.png" for number in range(40)])
    _, late = service.take(Classify)
    late(cat("/0.png"))  # its preview is being loaded
    context.document.restore(FLOWERS)
    late(cat("/1.png"))
    late(Done(id=1))
    classify.classify(["/daisy.png"])
    assert service.answer_pictures().pictures == ["/daisy.png"]
    qtbot.waitUntil(lambda: strip.num_tiles == 1)
    assert not any(isinstance(request, Classify) for request, _ in service.asked)
