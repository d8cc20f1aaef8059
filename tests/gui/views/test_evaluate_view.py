"""The evaluate view: its requests, and that every figure shown is the one it received."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest
from PySide6.QtCore import QPointF, Qt

from tests.gui.views.test_classify_view import (
    ScriptedService,
    give_weights,
    model,  # noqa: F401 - a fixture
)
from workbench.core.projects.project import Choice
from workbench.gui.evaluate.view import EvaluateView
from workbench.gui.panels import panels_of
from workbench.protocol.messages import (
    ClassScore,
    ErrorParts,
    Evaluate,
    Evaluation,
    Failed,
    KeptWeights,
    Progress,
)

RESULT = Evaluation(
    id=1,
    loss=0.51239,
    accuracy=0.75,
    classes=["cat", "dog"],
    per_class=[
        ClassScore(name="cat", precision=0.9, recall=0.6, f1=0.72, count=5),
        ClassScore(name="dog", precision=0.4, recall=0.8, f1=0.53, count=15),
    ],
    confusion=[[3, 2], [3, 12]],
    weights=KeptWeights(epoch=40),
)


def table_texts(view):
    table = view.panels["evaluate_classes"].table.model()
    columns = range(table.columnCount())
    return [[table.index(row, at).data() for at in columns] for row in range(table.rowCount())]


@pytest.fixture
def service():
    return ScriptedService()


@pytest.fixture
def view(qtbot, context, service, model, open_library):  # noqa: F811
    context.service.end()
    model("cifar")
    view = EvaluateView(replace(context, service=service), panels_of("evaluate"))
    view.resize(1200, 800)
    qtbot.addWidget(view)
    with qtbot.waitExposed(view):
        view.show()
    open_library()
    return view


@pytest.fixture
def shown(view, service):
    """The view with a result."""
    view.start.click()
    service.take(Evaluate)[1](RESULT)
    return view


def test_it_requests_the_test_pictures_and_shows_progress(view, service):
    view.start.click()
    request, answer = service.take(Evaluate)
    assert (request.model, request.source) == (str(view.chooser.path), "")
    assert not view.start.isEnabled()
    answer(Progress(id=1, text="Evaluating the test images", fraction=0.5))
    assert view.wait.text().startswith("Evaluating the test images, 50%")


def test_all_figures_are_shown(shown):
    assert shown.panels["evaluate_classes"].accuracy.value.text() == "75.0%"
    assert shown.panels["evaluate_classes"].loss.value.text() == "0.5124"
    assert shown.panels["evaluate_classes"].pictures.value.text() == "20"
    assert shown.panels["evaluate_classes"].source.text() == (
        "Run “cifar”, test set · weights: last epoch (40)"
    )
    assert table_texts(shown) == [
        ["cat", "90.0%", "60.0%", "72.0%", "5"],
        ["dog", "40.0%", "80.0%", "53.0%", "15"],
    ]
    assert shown.start.isEnabled()


def test_a_test_set_that_was_also_validated_on_is_remarked_on(view, service):
    view.start.click()
    service.take(Evaluate)[1](msgspec.structs.replace(RESULT, is_validated_on_test=True))
    assert view.note.isVisible()
    assert view.note.text().endswith("on new images the scores may be lower.")
    view.start.click()
    service.take(Evaluate)[1](RESULT)
    assert not view.note.isVisible()


def test_the_table_sorts_by_numbers_not_by_letters(shown):
    shown.panels["evaluate_classes"].table.sortByColumn(4, Qt.SortOrder.AscendingOrder)
    assert [row[0] for row in table_texts(shown)] == ["cat", "dog"]
    shown.panels["evaluate_classes"].table.sortByColumn(1, Qt.SortOrder.AscendingOrder)
    assert [row[0] for row in table_texts(shown)] == ["dog", "cat"]


def test_the_map_describes_the_square_under_the_mouse(qtbot, shown):
    middle = shown.panels["evaluate_confusion"].map.cell_rect(0, 1).center()
    assert shown.panels["evaluate_confusion"].map.cell_at(middle) == (0, 1)
    qtbot.mouseMove(shown.panels["evaluate_confusion"].map, middle.toPoint())
    qtbot.waitUntil(
        lambda: (
            shown.panels["evaluate_confusion"].hover.text()
            == "Actual cat, predicted dog: 2 of 5 (40%)"
        )
    )


def test_outside_the_map_there_is_no_square(shown):
    assert shown.panels["evaluate_confusion"].map.cell_at(QPointF(1, 1)) is None


def test_a_hundred_classes_fit(qtbot, shown):
    names = [f"class {number}" for number in range(100)]
    shown.panels["evaluate_confusion"].map.set_matrix(
        names, [[int(i == j) for j in names] for i in names]
    )
    last = shown.panels["evaluate_confusion"].map.cell_rect(99, 99)
    assert last.right() <= shown.panels["evaluate_confusion"].map.width() + 1
    assert last.bottom() <= shown.panels["evaluate_confusion"].map.height() + 1
    assert not shown.panels["evaluate_confusion"].map.grab().isNull()


def test_other_pictures_are_named(view, service):
    view.evaluate_on(Choice("folder", {"path": "/x/flowers"}), "flowers")
    request, answer = service.take(Evaluate)
    assert (request.source, request.params) == ("folder", {"path": "/x/flowers"})
    answer(RESULT)
    assert view.panels["evaluate_classes"].source.text() == (
        "Run “cifar”, flowers · weights: last epoch (40)"
    )


def test_a_failure_is_reported_and_the_result_before_stays(shown, service):
    shown.start.click()
    error = ErrorParts(what="There are no test images.", fix="Choose a data set.")
    service.take(Evaluate)[1](Failed(id=1, error=error))
    assert shown.wait.text() == "There are no test images. Choose a data set."
    assert shown.panels["evaluate_classes"].accuracy.value.text() == "75.0%"
    assert shown.start.isEnabled()


def test_a_new_training_is_followed_once_it_has_weights(
    qtbot,
    view,
    context,
    written,
    model,  # noqa: F811
):
    older, library = view.chooser.path, context.library
    newer = model("newer")
    library.select(older)
    library.refresh()
    qtbot.waitUntil(lambda: view.chooser.box.count() == 2)
    assert view.chooser.path == older
    training = written("training").begin()
    library.select(training.path)
    assert view.chooser.path == older
    give_weights(training)
    library.refresh()
    qtbot.waitUntil(lambda: view.chooser.path == training.path)
    view.chooser.choose(newer.path)
    library.refresh()
    with qtbot.waitSignal(library.runs_changed):
        training.finish()
        library.refresh()
    assert view.chooser.path == newer.path


def test_a_view_opened_later_shows_the_selected_run(qtbot, view, context, service, model):  # noqa: F811
    selected = view.chooser.path
    model("newer")
    context.library.select(selected)
    context.library.refresh()
    qtbot.waitUntil(lambda: view.chooser.box.count() == 2)
    later = EvaluateView(replace(context, service=service), panels_of("evaluate"))
    qtbot.addWidget(later)
    assert later.chooser.path == selected


def test_a_result_comes_back_with_its_model(shown, service, model, qtbot):  # noqa: F811
    older, library = shown.chooser.path, shown._context.library
    newer = model("wide")
    library.refresh()
    qtbot.waitUntil(lambda: shown.chooser.box.count() == 2)
    shown.chooser.choose(newer.path)
    assert shown._body.currentIndex() == 0
    shown.start.click()
    service.take(Evaluate)[1](replace_result(accuracy=0.5))
    assert shown.panels["evaluate_classes"].accuracy.value.text() == "50.0%"
    shown.chooser.choose(older)
    assert shown._body.currentIndex() == 1
    assert shown.panels["evaluate_classes"].accuracy.value.text() == "75.0%"
    assert "cifar" in shown.panels["evaluate_classes"].source.text()


def replace_result(**values):
    return msgspec.structs.replace(RESULT, **values)
