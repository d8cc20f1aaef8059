"""Explanation in the classify view: a real network and a real worker, and answers that come late."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QImage

from tests.bright_network import BRIGHT, bright_picture
from tests.gui.views.scripted import cat
from workbench.gui.classify.explain import AT_LAST
from workbench.protocol.bases import ErrorParts
from workbench.protocol.classify import Classify
from workbench.protocol.messages import Done
from workbench.protocol.trained.explain import Explain, Explained

PATIENCE_MS = 120_000


@pytest.fixture
def picture(tmp_path):
    return bright_picture(tmp_path)


def panel_of(view):
    return view.panels["classify_explanation"]


def pixels_of(image):
    """uint8 (height, width, 4): red, green, blue, alpha."""
    image = image.convertToFormat(QImage.Format.Format_RGBA8888)
    values = np.frombuffer(image.constBits(), np.uint8)
    return values.reshape(image.height(), image.width(), 4).copy()


def click(qtbot, bars, row):
    qtbot.mouseClick(bars, Qt.MouseButton.LeftButton, pos=QPoint(9, 9 + 25 * row))


@pytest.mark.worker
def test_a_dropped_picture_is_explained_checked_and_saved(qtbot, bright_view, picture, tmp_path):
    view = bright_view
    panel = panel_of(view)
    assert panel.hint.isVisible()
    with qtbot.waitSignal(panel.maps.loaded, timeout=PATIENCE_MS):
        view.classify([picture])
    (layer,) = panel.figure.layers
    colors = pixels_of(layer.heat)
    assert colors.shape == (32, 64, 4)
    assert (colors[:, :16, 3] == 0).all()  # cropped: the model does not see it
    red, green, blue, _ = colors[BRIGHT].reshape(-1, 4).astype(int).max(axis=0)
    assert red > 240
    assert green > 220
    assert blue < 100
    assert panel.wait.text().startswith("Grad-CAM at conv2d_1 for “light”")
    assert "up to eight layers" in panel.wait.toolTip()

    with qtbot.waitSignal(panel.maps.loaded, timeout=PATIENCE_MS):
        panel.check.click()
    assert [layer.words for layer in panel.figure.layers] == ["This network", "Random weights"]
    assert "maps" in panel.note.text()
    for ending in (".png", ".svg", ".csv"):
        file = tmp_path / f"map{ending}"
        with qtbot.waitSignal(view.state.said):
            panel.saver.save(file)
        assert file.stat().st_size > 1000
    table = np.loadtxt(tmp_path / "map.csv", delimiter=",")
    assert table.shape == (32, 64)
    assert (table[BRIGHT].max(), table[:, :16].max()) == (255, 0)

    with qtbot.waitSignal(panel.maps.loaded, timeout=PATIENCE_MS):
        click(qtbot, view.panels["classify_result"].bars, 1)
    assert panel.class_box.currentText() == "dark"
    assert panel.note.text() == "The map is empty: nothing in the image raises the score of “dark”."


@pytest.fixture
def map_file(tmp_path):
    Image.fromarray(np.full((4, 4), 200, np.uint8)).save(tmp_path / "map.png")
    return str(tmp_path / "map.png")


def shown(qtbot, ready, service, *paths):
    """Drops pictures and answers for them: each is called a cat."""
    ready.classify(list(paths))
    with qtbot.waitSignal(ready.state.shown):
        service.answer_pictures()


def explained(file, map_file, name="cat"):
    return Explained(
        file=file, class_name=name, probability=0.9, method="gradcam", layers=["a"],
        heat_png=map_file,
    )  # fmt: skip


def test_the_map_of_an_earlier_picture_is_dropped(qtbot, ready, service, map_file):
    panel = panel_of(ready)
    shown(qtbot, ready, service, "/x/a.png")
    first, answer_first = service.take(Explain)
    assert (first.picture, first.class_name, first.method) == ("/x/a.png", "cat", "gradcam")
    shown(qtbot, ready, service, "/x/b.png")
    second, answer_second = service.take(Explain)
    assert second.picture == "/x/b.png"
    answer_first(explained("/x/a.png", map_file))
    with qtbot.waitSignal(panel.maps.loaded) as found:
        answer_second(explained("/x/b.png", map_file))
    assert found.args[0].answer.file == "/x/b.png"
    assert len(panel.figure.layers) == 1


def test_a_late_error_of_an_earlier_picture_is_not_shown(qtbot, ready, service, map_file):
    maps = panel_of(ready).maps
    failed = []
    maps.failed.connect(failed.append)
    shown(qtbot, ready, service, "/x/a.png")
    service.take(Explain)[1](explained("/x/a.png", map_file + ".gone"))  # it is being read
    maps.drop()
    qtbot.waitUntil(lambda: not ready.state.background.is_busy)
    assert not failed


def test_a_closed_panel_requests_nothing_until_a_class_is_clicked(qtbot, ready, service):
    panel = panel_of(ready)
    (action,) = [each for each in ready.panels.actions() if each.text() == "Explanation"]
    action.setChecked(False)
    shown(qtbot, ready, service, "/x/a.png")
    assert not any(isinstance(request, Explain) for request, _ in service.asked)
    click(qtbot, ready.panels["classify_result"].bars, 1)
    assert panel.isVisible()
    assert service.take(Explain)[0].class_name == "dog"
    assert not any(isinstance(request, Explain) for request, _ in service.asked)


def test_a_picture_that_cannot_be_read_is_not_explained(qtbot, ready, service):
    shown(qtbot, ready, service, "/x/a.png")
    service.take(Explain)
    ready.classify(["/x/bad.png"])
    _, answer = service.take(Classify)
    with qtbot.waitSignal(ready.state.shown):
        answer(cat("/x/bad.png", error=ErrorParts(kind="PictureError", what="Broken.")))
        answer(Done(id=1))
    assert panel_of(ready).hint.isVisible()
    assert not any(isinstance(request, Explain) for request, _ in service.asked)


def test_a_failed_map_is_an_error_in_words_and_the_opacity_stays(qtbot, ready, service, map_file):
    panel = panel_of(ready)
    panel.opacity.setValue(25)
    shown(qtbot, ready, service, "/x/a.png")
    with qtbot.waitSignal(panel.maps.failed):
        service.take(Explain)[1](explained("/x/a.png", map_file + ".gone"))
    assert "could not be read" in panel.wait.text()
    assert not panel.menu_button.isEnabled()
    panel.explain_class("dog")
    with qtbot.waitSignal(panel.maps.loaded):
        service.take(Explain)[1](explained("/x/a.png", map_file, "dog"))
    assert panel.figure.opacity == 0.25
    assert panel.menu_button.isEnabled()


def test_grad_cam_at_the_last_convolution_is_the_same_for_each_picture(
    qtbot, ready, service, map_file
):
    """Else each picture has the layer whose map counts most, and two maps cannot be compared."""
    panel = panel_of(ready)
    shown(qtbot, ready, service, "/x/a.png")
    request, _ = service.take(Explain)
    assert not request.at_last
    panel.method.setCurrentIndex(panel.method.findData(AT_LAST))
    panel.method.activated.emit(panel.method.currentIndex())
    request, answer = service.take(Explain)
    assert (request.method, request.at_last) == ("gradcam", True)
    with qtbot.waitSignal(panel.maps.loaded):
        answer(explained("/x/a.png", map_file))
    assert panel.wait.toolTip() == "The last convolution, the same for each picture."
