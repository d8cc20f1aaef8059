"""The evaluate view: its requests, and that every figure shown is the one it received."""

from __future__ import annotations

import time
from dataclasses import replace

import msgspec
import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt

from tests.gui.views.pets import RESULT
from tests.gui.views.scripted import give_weights, table_texts
from workbench.core.evaluation.confusion import Confusion
from workbench.core.projects.project import Choice
from workbench.gui.evaluate.view import EvaluateView
from workbench.gui.panels import panels_of
from workbench.protocol.bases import ErrorParts
from workbench.protocol.events import TestResult
from workbench.protocol.messages import Failed, Progress
from workbench.protocol.trained.evaluate import Cells, ClassScore, Evaluate
from workbench.protocol.weights import KeptWeights
from workbench.runs.folder import RunFolder
from workbench.runs.model_card import ModelCard, write_card
from workbench.runs.store.evaluation import EVALUATION_NAME, KeptEvaluation, keep_evaluation


def class_rows(view):
    return table_texts(view.panels["evaluate_classes"].table)


@pytest.fixture
def view(show_evaluate, service, model):
    model("cifar")
    return show_evaluate(service=service)


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
    assert (
        shown.panels["evaluate_classes"]
        .source.text()
        .startswith("Test set, 20 images · run “cifar” · weights: last epoch (40) · today ")
    )
    assert class_rows(shown) == [
        ["cat", "90.0%", "60.0%", "72.0%", "5"],
        ["dog", "40.0%", "80.0%", "53.0%", "15"],
    ]
    assert shown.start.isEnabled()


def test_top_k_accuracy_is_shown_where_there_are_more_classes(shown, service):
    scores = shown.panels["evaluate_classes"]
    assert not scores.top_3.isVisible()
    assert not scores.top_5.isVisible()
    shown.start.click()
    service.take(Evaluate)[1](msgspec.structs.replace(RESULT, top_k_accuracy={3: 0.925}))
    assert scores.top_3.isVisible()
    assert scores.top_3.value.text() == "92.5%"
    assert not scores.top_5.isVisible()


@pytest.mark.parametrize("page", ["classes", "pairs"])
def test_the_table_that_is_shown_is_saved(qtbot, shown, tmp_path, page):
    scores = shown.panels["evaluate_classes"]
    scores.switch.chosen.emit(page)
    for ending, start in (
        ("csv", b"class," if page == "classes" else b"actual,"),
        ("svg", b"<?xml"),
    ):
        file = tmp_path / f"scores.{ending}"
        with qtbot.waitSignal(scores.saver.said):
            scores.saver.save(file)
        assert file.read_bytes().startswith(start)
    assert "Test set, 20 images" in file.read_text()


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
    assert [row[0] for row in class_rows(shown)] == ["cat", "dog"]
    shown.panels["evaluate_classes"].table.sortByColumn(1, Qt.SortOrder.AscendingOrder)
    assert [row[0] for row in class_rows(shown)] == ["dog", "cat"]


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
        names, Confusion.of_dense(np.eye(100, dtype=np.int64))
    )
    last = shown.panels["evaluate_confusion"].map.cell_rect(99, 99)
    assert last.right() <= shown.panels["evaluate_confusion"].map.width() + 1
    assert last.bottom() <= shown.panels["evaluate_confusion"].map.height() + 1
    assert not shown.panels["evaluate_confusion"].map.grab().isNull()


def test_other_pictures_are_named(view, service):
    view.evaluate_on(Choice("folder", {"path": "/x/flowers"}))
    request, answer = service.take(Evaluate)
    assert (request.source, request.params) == ("folder", {"path": "/x/flowers"})
    answer(of_part("other"))
    words = "Image folder: flowers, 20 images · run “cifar” · weights: last epoch (40) · today "
    assert view.panels["evaluate_classes"].source.text().startswith(words)
    view.start.click()  # the same images again
    assert service.take(Evaluate)[0].params == {"path": "/x/flowers"}


def of_part(part, **values):
    return msgspec.structs.replace(RESULT, part=part, **values)


def test_a_part_is_evaluated_once_and_named_beside_each_figure(qtbot, shown, service):
    """Going back to one that was evaluated shows its figures at once."""
    panels = shown.panels
    shown.part.chosen.emit("train")
    qtbot.waitUntil(shown.hint.isVisible)  # once it is known what was evaluated before
    assert shown.hint.title.text() == "Not evaluated on the training images yet"
    shown.hint.action.click()
    request, answer = service.take(Evaluate)
    assert (request.part, request.source) == ("train", "")
    answer(of_part("train", accuracy=1.0))
    words = "Training set, 20 images (seen in training)"
    for key in ("evaluate_classes", "evaluate_confusion", "evaluate_calibration"):
        assert panels[key].source.text().startswith(words), key
    assert panels["evaluate_classes"].accuracy.value.text() == "100.0%"
    assert shown.note.text().startswith("The model was trained on these images")
    shown.part.chosen.emit("test")
    assert panels["evaluate_classes"].accuracy.value.text() == "75.0%"
    assert panels["evaluate_confusion"].source.text() == "Test set, 20 images"
    assert not shown.note.isVisible()
    assert not [request for request, _ in service.asked if isinstance(request, Evaluate)]


def test_validation_images_that_chose_the_weights_are_remarked_on(shown, service):
    shown.part.chosen.emit("validation")
    shown.start.click()
    best = KeptWeights(epoch=7, kind="best", val_accuracy=0.8)
    service.take(Evaluate)[1](of_part("validation", weights=best))
    words = "Validation set, 20 images (chose the saved weights)"
    assert shown.panels["evaluate_confusion"].source.text() == words
    assert "did best on these validation images" in shown.note.text()


def test_a_failure_is_reported_and_the_result_before_stays(shown, service):
    shown.start.click()
    error = ErrorParts(what="There are no test images.", fix="Choose a data set.")
    service.take(Evaluate)[1](Failed(id=1, error=error))
    assert shown.wait.text() == "There are no test images. Choose a data set."
    assert shown.panels["evaluate_classes"].accuracy.value.text() == "75.0%"
    assert shown.start.isEnabled()


def test_a_new_training_is_followed_once_it_is_finished(
    qtbot,
    view,
    context,
    written,
    model,
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
    qtbot.waitUntil(lambda: view.chooser.box.count() == 3)
    assert view.chooser.path == older, "its weights are of a run that is not finished"
    training.finish()
    library.refresh()
    qtbot.waitUntil(lambda: view.chooser.path == training.path)
    view.chooser.choose(newer.path)
    later = model("later")
    library.refresh()
    library.select(later.path)
    qtbot.waitUntil(lambda: view.chooser.box.count() == 4)
    assert view.chooser.path == newer.path


def test_a_view_opened_later_shows_the_selected_run(qtbot, view, context, service, model):
    selected = view.chooser.path
    model("newer")
    context.library.select(selected)
    context.library.refresh()
    qtbot.waitUntil(lambda: view.chooser.box.count() == 2)
    later = EvaluateView(replace(context, service=service), panels_of("evaluate"))
    qtbot.addWidget(later)
    assert later.chooser.path == selected
    later.close_background()


def test_a_result_comes_back_with_its_model(shown, service, model, qtbot):
    older, library = shown.chooser.path, shown._context.library
    newer = model("wide")
    library.refresh()
    qtbot.waitUntil(lambda: shown.chooser.box.count() == 2)
    shown.chooser.choose(newer.path)
    qtbot.waitUntil(shown.hint.isVisible)
    shown.start.click()
    service.take(Evaluate)[1](replace_result(accuracy=0.5))
    assert shown.panels["evaluate_classes"].accuracy.value.text() == "50.0%"
    shown.chooser.choose(older)
    assert shown._body.currentIndex() == 1
    assert shown.panels["evaluate_classes"].accuracy.value.text() == "75.0%"
    assert "cifar" in shown.panels["evaluate_classes"].source.text()


def replace_result(**values):
    return msgspec.structs.replace(RESULT, **values)


# what is kept -----------------------------------------------------------------------------

CARD = ModelCard(
    class_names=["cat", "dog"],
    input_shape=[8, 8, 3],
    fit="crop",
    graph={},
    checksum="abc",
    test=TestResult(loss=0.4, accuracy=0.87, count=10_000),
)
KEPT = KeptEvaluation(result=RESULT, checksum="abc", created=1_700_000_000.0)


def chosen_again(qtbot, view):
    """Shows the view as it is found later: hidden, then shown. A look at the folder that began
    before may end first.
    """
    view.hide()
    with qtbot.waitSignal(view.state.looked):
        view.show()


def test_an_evaluation_is_kept_for_the_next_start(qtbot, view, context, service):
    """It is shown with its images, weights and day, until other weights replace these."""
    run = RunFolder(view.chooser.path)
    write_card(run.path, CARD)
    folder = {"source": "folder", "params": {"path": "/x/held out"}}
    keep_evaluation(run, msgspec.structs.replace(KEPT, **folder))
    later = EvaluateView(replace(context, service=service), panels_of("evaluate"))
    qtbot.addWidget(later)
    with qtbot.waitSignal(later.state.evaluated):
        later.show()
    assert later.panels["evaluate_classes"].accuracy.value.text() == "75.0%"
    assert later.panels["evaluate_classes"].source.text() == (
        "Image folder: held out, 20 images · run “cifar” · weights: last epoch (40) · 14 Nov 2023 · "
        "accuracy 95% interval 53.1% to 88.8%"
    )
    assert class_rows(later)[0] == ["cat", "90.0%", "60.0%", "72.0%", "5"]
    assert not later.note.isVisible()
    write_card(run.path, msgspec.structs.replace(CARD, checksum="other", test=None))
    chosen_again(qtbot, later)
    stale = "The weights have changed since this evaluation."
    qtbot.waitUntil(lambda: later.note.text().startswith(stale))
    assert later.note.isVisible()
    later.close_background()


def test_one_of_this_session_goes_stale_too(qtbot, view, service):
    run = RunFolder(view.chooser.path)
    write_card(run.path, CARD)

    def evaluate():
        view.start.click()
        _, answer = service.take(Evaluate)
        kept = msgspec.structs.replace(KEPT, created=time.time())
        keep_evaluation(run, kept)  # as the worker does
        with qtbot.waitSignal(view.state.looked):
            answer(RESULT)

    evaluate()
    assert not view.note.isVisible()
    write_card(run.path, msgspec.structs.replace(CARD, checksum="other"))
    chosen_again(qtbot, view)
    stale = "The weights have changed since this evaluation."
    qtbot.waitUntil(lambda: view.note.text().startswith(stale))


def test_before_the_first_one_the_test_of_the_training_is_shown(qtbot, view):
    assert view.hint.title.text() == "Not evaluated yet"
    write_card(view.chooser.path, CARD)
    chosen_again(qtbot, view)
    qtbot.waitUntil(lambda: view.hint.title.text() == "Test accuracy 87.0%")
    assert view.hint.isVisible()
    assert view.hint.text.text().startswith(
        "Measured at the end of the training on 10,000 test images."
    )
    assert view.hint.action.isVisible()


def test_a_kept_one_that_is_damaged_is_named_and_harmless(qtbot, context, view, service):
    run = RunFolder(view.chooser.path)
    write_card(run.path, CARD)
    (run.path / EVALUATION_NAME).write_bytes(b'{"result": "<b>none</b>"}')
    later = EvaluateView(replace(context, service=service), panels_of("evaluate"))
    qtbot.addWidget(later)
    with qtbot.waitSignal(later.state.looked):
        later.show()
    assert later.wait.text().startswith("The kept evaluation is damaged.")
    assert later.hint.isVisible()
    assert later.hint.title.text() == "Test accuracy 87.0%"
    later.start.click()
    service.take(Evaluate)[1](RESULT)
    assert later.panels["evaluate_classes"].accuracy.value.text() == "75.0%"
    later.close_background()


def test_an_evaluation_that_ends_after_another_model_was_chosen_is_not_shown_as_its_own(
    qtbot,
    view,
    service,
    context,
    model,
):
    first = view.chooser.path
    view.start.click()
    newer = model("wide")
    context.library.refresh()
    qtbot.waitUntil(lambda: view.chooser.box.count() == 2)
    context.library.select(newer.path)
    assert view.chooser.path == newer.path
    service.take(Evaluate)[1](RESULT)
    qtbot.waitUntil(view.hint.isVisible)
    assert view.start.isEnabled()
    view.chooser.choose(first)
    assert view.panels["evaluate_classes"].accuracy.value.text() == "75.0%"
    assert "cifar" in view.panels["evaluate_classes"].source.text()


def matrix_of(view):
    return view.panels["evaluate_confusion"]


def many_classes(number):
    """One class in two is confused with the next, all others are right."""
    names = [f"class {place}" for place in range(number)]
    confusion = [[9 * (row == column) for column in range(number)] for row in range(number)]
    for place in range(0, number - 1, 2):
        confusion[place][place + 1] = 3 + place
    scores = [ClassScore(name=name, precision=1, recall=1, f1=1, count=9) for name in names]
    return msgspec.structs.replace(RESULT, classes=names, per_class=scores, confusion=confusion)


def test_the_matrix_shows_shares_of_the_actual_and_of_the_predicted_class(shown):
    panel = matrix_of(shown)
    panel.shares.setCurrentIndex(1)
    assert panel.map.words(0, 1) == "Actual cat, predicted dog: 2 of 5 (40%)"
    assert panel.map._number(0, 1) == "40"
    panel.shares.setCurrentIndex(2)
    assert panel.map.words(0, 1) == "Actual cat, predicted dog: 2 of 14 predicted as it (14%)"
    assert panel.map._number(0, 1) == "14"


def test_classes_are_found_with_what_they_are_confused_with(view, service):
    view.start.click()
    service.take(Evaluate)[1](many_classes(14))
    panel = matrix_of(view)
    assert panel.map.shown == list(range(14))
    panel.search.setText("class 12")
    assert panel.map.shown == [12, 13]
    panel.search.setText("no such class")
    assert panel.map.shown == []
    panel.search.clear()
    assert panel.map.shown == list(range(14))


def test_of_very_many_classes_the_most_confused_are_shown_and_others_found(qtbot, view, service):
    names = [f"class {place}" for place in range(2_000)]
    pairs = [(place, place + 1, 2) for place in range(1_000, 1_400, 2)]
    cells = Cells(*map(list, zip((7, 7, 5), *pairs, strict=True)))
    scores = [
        ClassScore(name=name, precision=1, recall=1, f1=place / 2_000, count=1)
        for place, name in enumerate(names)
    ]
    view.start.click()
    answer = msgspec.structs.replace(RESULT, classes=names, per_class=scores, confusion=cells)
    service.take(Evaluate)[1](answer)
    panel = matrix_of(view)
    qtbot.waitUntil(lambda: panel.map.shown[:1] == [1_000])
    assert panel.map.shown == list(range(1_000, 1_200))
    assert "the 200 most confused of 2,000 classes" in panel.source.text()
    assert panel.map.words(1_000, 1_001) == "Actual class 1000, predicted class 1001: 2 of 2 (100%)"
    panel.search.setText("class 7")
    assert panel.map.shown[0] == 7
    assert len(panel.map.shown) == 111
    panel.search.clear()
    view.state.cell_pointed.emit(1_398, 1_399)
    assert panel.map.cell == (1_398, 1_399)
    assert len(panel.map.shown) == 200
    classes = view.panels["evaluate_classes"]
    assert classes.table.model().rowCount() == 100
    assert "the 100 classes with the lowest F1" in classes.source.text()


def test_confused_classes_are_shown_together(qtbot, view, service):
    view.start.click()
    result = many_classes(14)
    counts = result.matrix.dense()
    counts[0, 1], counts[0, 9] = 0, 5
    result = msgspec.structs.replace(result, confusion=counts.tolist())
    service.take(Evaluate)[1](result)
    panel = matrix_of(view)
    panel.order.setCurrentIndex(1)
    qtbot.waitUntil(lambda: panel.map.shown != list(range(14)))
    order = panel.map.shown
    assert sorted(order) == list(range(14))
    assert abs(order.index(0) - order.index(9)) == 1
    panel.order.setCurrentIndex(0)
    assert panel.map.shown == list(range(14))


def test_the_arrow_keys_follow_the_order_that_is_shown(qtbot, view, service):
    view.start.click()
    service.take(Evaluate)[1](many_classes(14))
    panel = matrix_of(view)
    panel.search.setText("class 12")
    panel.map.point_at((12, 12))
    qtbot.keyClick(panel.map, Qt.Key.Key_Right)
    assert panel.map.cell == (12, 13)
    qtbot.keyClick(panel.map, Qt.Key.Key_Home)
    assert panel.map.cell == (12, 12)


def test_a_confused_pair_leads_to_its_cell(view, service):
    view.start.click()
    service.take(Evaluate)[1](many_classes(14))
    scores = view.panels["evaluate_classes"]
    scores.switch.chosen.emit("pairs")
    first = [scores.pairs.model().index(0, column).data() for column in range(4)]
    assert first == ["class 12", "class 13", "15", "62.5%"]
    matrix_of(view).search.setText("class 2")
    scores.pairs.chosen.emit(0)
    assert matrix_of(view).map.cell == (12, 13)


def test_without_mistakes_no_pair_is_listed(view, service):
    view.start.click()
    service.take(Evaluate)[1](msgspec.structs.replace(RESULT, confusion=[[5, 0], [0, 15]]))
    scores = view.panels["evaluate_classes"]
    scores.switch.chosen.emit("pairs")
    assert scores.no_pairs.isVisible()


def test_the_matrix_is_saved_as_image_drawing_and_table(qtbot, shown, tmp_path):
    saver = matrix_of(shown).saver
    for name, start in (("m.png", b"\x89PNG"), ("m.svg", b"<?xml"), ("m.csv", b"actual")):
        with qtbot.waitSignal(shown.state.said) as said:
            saver.save(tmp_path / name)
        assert said.args == [f"Saved the confusion matrix as {name}."]
        assert (tmp_path / name).read_bytes().startswith(start)
    lines = (tmp_path / "m.csv").read_text().splitlines()
    assert lines == ["actual \\ predicted,cat,dog", "cat,3,2", "dog,3,12"]
