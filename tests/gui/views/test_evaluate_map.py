"""The map of a run's images: what it shows, and what leads from it to the grid."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor
from PySide6.QtTest import QTest

from tests.gui.views.pets import ACTUAL, WEIGHTS, numbers, scored_pets
from tests.lassos import RATE_MS, draw_around, resting_pixels
from tests.looks import flaws_of
from workbench.core.projects.data_edits import DataEdits
from workbench.core.projects.project import Choice
from workbench.gui.evaluate.map_points import blended, class_color, class_colors, stamp_points
from workbench.protocol.bases import ErrorParts
from workbench.protocol.messages import Done, Failed, Progress
from workbench.protocol.trained.image_map import MapImages
from workbench.runs.store.image_features import ImageMap, keep_image_map

ANGLES = np.linspace(0, 2 * np.pi, 20, endpoint=False)


def map_in(folder):
    """A circle of twenty images, of which the first twelve were trained on."""
    return ImageMap(
        images=scored_pets(folder),
        role=np.array([0] * 12 + [2] * 8, np.int8),
        totals=np.array([30, 0, 8], np.int64),
        points=np.column_stack([np.cos(ANGLES), np.sin(ANGLES)]).astype(np.float32),
        shares=np.array([0.5, 0.25]),
        weights=WEIGHTS,
        created=1.5,
    )


@pytest.fixture
def show(qtbot, show_evaluate, service, measurer, pets_run):
    def shown():
        view = show_evaluate(service=service, measurer=measurer)
        view.panels.open("evaluate_map")
        qtbot.waitUntil(lambda: view.panels["evaluate_images"].scored.images is not None)
        return view, view.panels["evaluate_map"]

    return shown


@pytest.fixture
def mapped(qtbot, show, pets_run, pets):
    keep_image_map(pets_run, map_in(pets))
    view, panel = show()
    qtbot.waitUntil(lambda: panel.maps.map is not None)
    return view, panel


def drag_around(panel, wanted):
    """Draws a line around the points of these numbers with the mouse."""
    draw_around(panel.plot, resting_pixels(panel.plot)[wanted])


def test_all_images_are_points_and_a_sample_is_named(mapped):
    _, panel = mapped
    assert panel.shown.tolist() == list(range(20))
    words = panel.status.text()
    assert words.startswith("20 images shown, 5 predicted wrong (ringed), the axes have 50.0% and")
    assert "12 of 30 training images, 8 of 8 test images" in words
    assert not panel.start.isVisible()
    parts = [panel.part.itemText(at) for at in range(panel.part.count())]
    assert parts == ["All images", "Training images", "Test images"]


def test_a_line_around_points_shows_their_images_the_largest_loss_first(mapped):
    view, panel = mapped
    drag_around(panel, [2, 3, 4, 5, 6])
    images = view.panels["evaluate_images"]
    assert numbers(images) == [6, 5, 4, 3, 2]
    assert images.isVisible()
    assert images.box.currentText() == "Picked on the map"
    assert images.subject.text().startswith("Images of Folder") or "pets" in (images.subject.text())
    images.box.setCurrentIndex(0)
    images.box.activated.emit(0)
    assert numbers(images) == [7, 6, 5, 4, 3]


def test_picked_images_are_relabeled_and_undo_brings_them_back(mapped, context, pets):
    view, panel = mapped
    context.document.set_dataset(Choice("folder", {"path": str(pets)}))
    drag_around(panel, [2, 3, 4])
    images = view.panels["evaluate_images"]
    images.grid.selectAll()
    contents = {images.rows.content(row) for row in range(3)}
    assert len(contents) == 3
    images.relabel("dog")
    assert dict(context.document.project.edits.labels) == dict.fromkeys(contents, "dog")
    assert images.rows.lines(0)[1] == "now dog"
    context.document.undo_stack.undo()
    assert not context.document.project.edits.names_images
    images.move_to_training()
    assert {*context.document.project.edits.parts.values()} == {"train"}


def test_the_legend_hides_classes_and_leads_to_one(mapped):
    view, panel = mapped
    cat = panel.legend.item(0)
    cat.setCheckState(Qt.CheckState.Unchecked)
    assert panel.shown.tolist() == list(range(5, 20))
    panel.none_button.click()
    assert len(panel.shown) == 0
    panel.all_button.click()
    assert len(panel.shown) == 20
    panel.legend.setFocus()
    panel.legend.setCurrentRow(0)
    QTest.keyClick(panel.legend, Qt.Key.Key_Return)
    images = view.panels["evaluate_images"]
    assert numbers(images) == [4, 3, 2, 1, 0]
    assert images.box.currentText() == "On the map: actual cat"


def test_wrong_images_and_those_of_a_part_are_shown_alone(mapped):
    view, panel = mapped
    panel.wrong.setChecked(True)
    assert panel.shown.tolist() == [3, 4, 5, 6, 7]
    panel.by.setCurrentIndex(panel.by.findData("predicted"))
    panel.by.activated.emit(1)
    panel.legend.item(0).setCheckState(Qt.CheckState.Unchecked)
    assert panel.shown.tolist() == [3, 4]
    panel.wrong.setChecked(False)
    panel.part.setCurrentIndex(panel.part.findData(2))
    panel.part.activated.emit(2)
    assert panel.shown.tolist() == list(range(12, 20))
    panel.plot.setFocus()
    QTest.keyClick(panel.plot, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    assert numbers(view.panels["evaluate_images"]) == list(range(19, 11, -1))


def test_the_point_under_the_mouse_is_described(mapped, qtbot):
    _, panel = mapped
    place = panel.plot.pixels()[15]
    at = panel.plot.mapFromScene(float(place[0]), float(place[1]))
    QTest.mouseMove(panel.plot.viewport(), at + QPoint(40, 40))
    QTest.qWait(RATE_MS)
    QTest.mouseMove(panel.plot.viewport(), at)
    qtbot.waitUntil(panel.card.isVisible)
    assert panel.card.words.text() == "dog 75.0%\nactual dog\ntest image"


def test_an_image_that_was_relabeled_has_the_words_of_the_grid(mapped, context, pets):
    """A point keeps its place; what is under the mouse says what is edited in the open project."""
    view, panel = mapped
    document = context.document
    document.set_dataset(Choice("folder", {"path": str(pets)}))
    panel.plot.pointed.emit(3)
    assert panel.card.words.text() == "dog 75.0%\nactual cat\ntraining image"
    content = panel.maps.map.found.images.content_of(3)
    document.set_edits(DataEdits(labels={content: "dog"}), "Relabel")
    assert panel.card.words.text() == "dog 75.0%\nnow dog\ntraining image"
    drag_around(panel, [3])
    assert view.panels["evaluate_images"].rows.lines(0)[1] == "now dog"
    document.set_edits(DataEdits(left_out=frozenset({content})), "Leave out")
    panel.plot.pointed.emit(3)
    assert panel.card.words.text().splitlines()[1] == "left out"
    document.set_dataset(Choice("fashion_mnist", {}))
    panel.plot.pointed.emit(3)
    assert panel.card.words.text().splitlines()[1] == "actual cat"


@pytest.mark.parametrize("is_elsewhere", [False, True])
def test_the_focus_stays_in_the_view_when_the_map_is_there(
    show, pets_run, measurer, qtbot, is_elsewhere
):
    view, panel = show()
    panel.start.setFocus()
    qtbot.keyClick(panel.start, Qt.Key.Key_Space)
    _, answer = measurer.take(MapImages)
    assert panel.cancel.hasFocus()
    if is_elsewhere:
        view.start.setFocus()
    keep_image_map(pets_run, map_in(pets_run.path))
    answer(Done(id=1))
    qtbot.waitUntil(lambda: panel.maps.map is not None)
    assert (view.start if is_elsewhere else panel.plot).hasFocus()


def test_the_choices_of_the_map_fit_a_narrow_view(mapped, qtbot):
    view, panel = mapped
    view.resize(900, 500)
    qtbot.waitUntil(lambda: panel.width() < 450)
    qtbot.waitUntil(lambda: flaws_of(panel) == [])


def test_keys_move_and_zoom_the_map(mapped):
    _, panel = mapped
    before = panel.plot.box.viewRange()
    panel.plot.setFocus()
    QTest.keyClick(panel.plot, Qt.Key.Key_Right)
    assert panel.plot.box.viewRange()[0][0] > before[0][0]
    QTest.keyClick(panel.plot, Qt.Key.Key_Plus)
    (left, right), _ = panel.plot.box.viewRange()
    assert right - left < before[0][1] - before[0][0]
    QTest.keyClick(panel.plot, Qt.Key.Key_Home)
    np.testing.assert_allclose(panel.plot.box.viewRange(), before, atol=1e-6)


def test_points_are_drawn_where_they_are(mapped):
    """Also into an image of twice as many pixels, as a file has."""
    _, panel = mapped
    image = panel.plot.grab().toImage()
    ratio = image.devicePixelRatio()
    for number in (0, 9, 15):
        place = panel.plot.pixels()[number]
        at = panel.plot.mapFromScene(float(place[0]), float(place[1]))
        color = class_color(int(ACTUAL[number]), 2, is_dark=panel._theme.is_dark)
        assert image.pixelColor(at * ratio) == QColor(*color)


def test_a_map_is_computed_with_progress_and_can_be_canceled(show, pets_run, measurer, qtbot, pets):
    _, panel = show()
    assert panel.maps.map is None
    panel.start.click()
    request, answer = measurer.take(MapImages)
    assert request.model == str(pets_run.path)
    answer(Progress(id=1, text="Computing the features of the images", fraction=0.5))
    assert panel.status.text() == "Computing the features of the images, 50%"
    assert panel.cancel.isVisible()
    answer(Failed(id=1, error=ErrorParts(what="Canceled.")))
    assert panel.status.text() == "Canceled."
    assert panel.start.isVisible()
    panel.start.click()
    _, answer = measurer.take(MapImages)
    keep_image_map(pets_run, map_in(pets))
    answer(Done(id=1))
    qtbot.waitUntil(lambda: panel.maps.map is not None)
    assert len(panel.shown) == 20


def test_a_damaged_map_is_named_and_can_be_computed_again(show, pets_run, qtbot, pets):
    keep_image_map(pets_run, map_in(pets))
    path = pets_run.path / "image_map.npz"
    path.write_bytes(path.read_bytes()[:500])
    _, panel = show()
    qtbot.waitUntil(lambda: "damaged" in panel.status.text())
    assert panel.start.isEnabled()


@pytest.mark.parametrize("ending", ["png", "svg", "csv"])
def test_it_is_saved(mapped, qtbot, tmp_path, ending):
    view, panel = mapped
    path = tmp_path / f"map.{ending}"
    with qtbot.waitSignal(view.state.said) as said:
        panel.saver.save(path)
    assert said.args[0] == f"Saved the map as map.{ending}."
    if ending == "csv":
        rows = list(csv.DictReader(path.read_text().splitlines()))
        assert len(rows) == 20
        assert rows[3]["label"] == "cat"
        assert rows[3]["predicted"] == "dog"
    else:
        assert path.stat().st_size > 1_000


def test_colors_of_many_classes_differ():
    for is_dark in (False, True):
        assert len({*class_colors(30, is_dark=is_dark).tolist()}) == 30
    assert blended(np.array([0xFFFFFFFF], np.uint32), 0xFF000000, 0.5).tolist() == [0xFF7F7F7F]


def test_discs_at_the_edge_of_an_image_are_left_out():
    image = np.zeros((40, 60), np.uint32)
    at = np.array([[30, 20], [-5, 20], [59, 39]], np.float32)
    stamp_points(image, at, np.full(3, 0xFF112233, np.uint32), 3.0, 0xFF000000)
    assert image[20, 30] == 0xFF112233
    assert image[20, 32] == 0xFF112233
    assert image[20, 36] == 0
    assert image[:, :20].max() == 0
