"""The training images nearest to a picture: requested where they are seen, and computed once."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt

from workbench.gui.images.sample_dialog import SampleDialog
from workbench.protocol.bases import ErrorParts
from workbench.protocol.describe_data import MakeThumbnails
from workbench.protocol.messages import Done, Failed, Progress
from workbench.protocol.trained.image_map import FindNearest, MapImages, NearestImages, NearImage


def near(number, **keywords):
    values = {"label": "cat", "distance": 0.1 * number, "part": "train", "index": number}
    return NearImage(file=f"/pets/{number}.png", content="", **{**values, **keywords})


FOUND = NearestImages(
    id=1,
    file="one.png",
    images=[near(1), near(2, label="dog", state="missing"), near(3, state="changed")],
    count=500,
    total=900,
    source="folder",
    params={"path": "/pets"},
)


def classified(qtbot, view, service, name):
    with qtbot.waitSignal(view.state.shown):
        view.classify([name])
        service.answer_pictures()


@pytest.fixture
def panel(qtbot, ready, service):
    """The opened panel, with a picture that is classified."""
    classified(qtbot, ready, service, "one.png")
    panel = ready.panels["classify_nearest"]
    panel.section.head.click()
    qtbot.waitUntil(lambda: service.has(FindNearest))
    return panel


def test_nothing_is_requested_before_it_is_opened(ready, service, qtbot):
    classified(qtbot, ready, service, "one.png")
    assert not service.has(FindNearest)
    panel = ready.panels["classify_nearest"]
    panel.section.head.click()
    request, answer = service.awaited(qtbot, FindNearest)
    assert (request.picture, request.model) == ("one.png", str(ready.state.run))
    answer(FOUND)
    view = panel.images
    assert view.grid.isVisible()
    assert view.rows.lines(0) == ("cat", "distance 0.100", "1.png")
    assert view.rows.lines(1) == ("dog", "distance 0.200", "moved or removed since")
    assert [len(view.rows.badges(row)) for row in range(3)] == [0, 1, 1]
    words = "Of 500 of 900 training images, a fixed random sample, the nearest first"
    assert view.wait.text() == f"{words}, 1 moved or removed since, 1 changed since."
    assert not view.compute.isVisible()
    request, _ = service.awaited(qtbot, MakeThumbnails)
    assert (request.source, request.params) == ("folder", {"path": "/pets"})


def test_a_click_opens_the_image(panel, service, qtbot):
    service.take(FindNearest)[1](FOUND)
    grid = panel.images.grid
    at = grid.visualRect(panel.images.rows.index(1, 0)).center()
    qtbot.mouseClick(grid.viewport(), Qt.MouseButton.LeftButton, pos=at)
    dialog = panel.findChild(SampleDialog)
    assert dialog is not None
    assert dialog.name.full_text == "dog"
    dialog.close()


def test_features_are_computed_once_for_a_run(panel, service, measurer):
    _, answer = service.take(FindNearest)
    answer(NearestImages(id=1, file="one.png", images=[]))
    view = panel.images
    assert view.compute.isVisible()
    assert not view.grid.isVisible()
    view.compute.click()
    _, computing = measurer.take(MapImages)
    computing(Progress(id=1, text="Computing the features of the images", fraction=0.25))
    assert view.wait.text().startswith("Computing the features of the images, 25%")
    assert view.cancel.isVisible()
    computing(Failed(id=1, error=ErrorParts(what="Canceled.")))
    assert view.wait.text() == "Canceled."
    assert view.compute.isVisible()
    view.compute.click()
    _, computing = measurer.take(MapImages)
    computing(Done(id=2))
    service.take(FindNearest)[1](FOUND)
    assert view.rows.rowCount() == 3
    assert not view.cancel.isVisible()


def test_another_picture_has_others(panel, ready, service, qtbot):
    service.take(FindNearest)[1](FOUND)
    classified(qtbot, ready, service, "two.png")
    request, answer = service.take(FindNearest)
    assert request.picture == "two.png"
    answer(NearestImages(id=1, file="two.png", images=[near(9)], count=900, total=900))
    assert panel.images.rows.lines(0)[2] == "9.png"
    assert panel.images.wait.text() == "Of 900 training images, the nearest first."


def test_an_error_is_named(panel, service):
    _, answer = service.take(FindNearest)
    answer(Failed(id=1, error=ErrorParts(what="Only a run has training images.")))
    assert panel.images.wait.text() == "Only a run has training images."
    assert not panel.images.compute.isVisible()
