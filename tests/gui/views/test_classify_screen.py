"""A region of the screen: dragged, too small, canceled, refused; several screens."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QColor, QGuiApplication, QImage, QPainter, QPixmap

from workbench.gui.classify.screen import RegionOverlay, StillScreen, grab_reason
from workbench.gui.classify.sources import screen_region
from workbench.protocol.classify import Classify


def still(ratio=1, screen=None):
    """The screen, red but for a blue rectangle at (100, 50) of 40 x 30."""
    screen = screen or QGuiApplication.primaryScreen()
    pixmap = QPixmap(screen.geometry().size() * ratio)
    pixmap.fill(QColor("red"))
    painter = QPainter(pixmap)
    rect = QRect(100 * ratio, 50 * ratio, 40 * ratio, 30 * ratio)
    painter.fillRect(rect, QColor("blue"))
    painter.end()
    pixmap.setDevicePixelRatio(ratio)
    return StillScreen(screen, pixmap)


@pytest.fixture
def begun(ready, monkeypatch, qtbot):
    """The source once its overlays are there, over two screens."""
    monkeypatch.setattr(screen_region, "grab_screens", lambda: [still(), still(ratio=2)])
    monkeypatch.setattr(screen_region, "HIDE_MS", 0)
    source = ready.panels["classify_pictures"].sources["screen_region"]
    ready.state.source_chosen.emit("screen_region")
    assert not ready.isVisible()
    qtbot.waitUntil(lambda: len(source.overlays) == 2)
    for overlay in source.overlays:
        qtbot.waitExposed(overlay)
    return source


def drag(qtbot, overlay, start, end):
    qtbot.mousePress(overlay, Qt.MouseButton.LeftButton, pos=QPoint(*start))
    qtbot.mouseMove(overlay, QPoint(*end))
    qtbot.mouseRelease(overlay, Qt.MouseButton.LeftButton, pos=QPoint(*end))


@pytest.mark.parametrize("is_backward", [False, True])
@pytest.mark.parametrize("place", [0, 1])
def test_a_dragged_rectangle_is_classified_in_the_pixels_of_the_screen(
    qtbot, begun, service, place, is_backward
):
    ratio, ready = place + 1, begun.owner.window()
    corners = [(100, 50), (139, 79)]
    drag(qtbot, begun.overlays[place], *(corners[::-1] if is_backward else corners))
    assert ready.isVisible()
    assert begun.overlays == []
    is_asked = lambda: any(isinstance(r, Classify) for r, _ in service.asked)  # noqa: E731
    qtbot.waitUntil(is_asked)
    image = QImage(service.take(Classify)[0].pictures[0])
    assert (image.width(), image.height()) == (40 * ratio, 30 * ratio)
    found = {image.pixelColor(x, y).name() for x in range(image.width()) for y in (0, 29)}
    assert found == {"#0000ff"}


def test_a_slip_of_the_hand_is_none_and_enter_takes_the_whole_screen(qtbot, begun, ready, service):
    overlay = begun.overlays[0]
    drag(qtbot, overlay, (10, 10), (12, 200))
    assert begun.overlays
    assert overlay.region.isEmpty()
    qtbot.keyClick(overlay, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: any(isinstance(r, Classify) for r, _ in service.asked))
    image = QImage(service.take(Classify)[0].pictures[0])
    assert image.size() == QGuiApplication.primaryScreen().geometry().size()


@pytest.mark.parametrize("how", ["key", "mouse"])
def test_it_can_be_canceled(qtbot, begun, ready, service, how):
    if how == "key":
        qtbot.keyClick(begun.overlays[1], Qt.Key.Key_Escape)
    else:
        qtbot.mouseClick(begun.overlays[1], Qt.MouseButton.RightButton)
    assert ready.isVisible()
    assert begun.overlays == []
    assert not any(isinstance(request, Classify) for request, _ in service.asked)
    ready.state.source_chosen.emit("screen_region")  # and begun again
    qtbot.waitUntil(lambda: len(begun.overlays) == 2)
    begun.overlays[0].cancelled.emit()


def test_a_system_that_gives_no_image_is_named(ready, monkeypatch, qtbot):
    monkeypatch.setattr(screen_region, "grab_screens", list)
    monkeypatch.setattr(screen_region, "HIDE_MS", 0)
    ready.state.source_chosen.emit("screen_region")
    qtbot.waitUntil(ready.isVisible)
    assert "not allowed to grab the screen" in ready.wait.text()


@pytest.mark.parametrize(
    ("platform", "session", "can"),
    [("xcb", "x11", True), ("xcb", "", True), ("xcb", "wayland", False), ("wayland", "", False),
     ("wayland-egl", "wayland", False), ("windows", "", True), ("cocoa", "", True)],
)  # fmt: skip
def test_where_the_screen_cannot_be_grabbed_the_reason_is_given(platform, session, can):
    reason = grab_reason(platform, {"XDG_SESSION_TYPE": session} if session else {})
    assert (reason == "") is can
    assert can or "paste it (Ctrl+V)" in reason


def test_the_rectangle_is_seen_while_it_is_dragged(qtbot, ready):
    overlay = RegionOverlay(ready.state.context.theme, still())
    qtbot.addWidget(overlay)
    overlay.showFullScreen()
    qtbot.mousePress(overlay, Qt.MouseButton.LeftButton, pos=QPoint(100, 50))
    qtbot.mouseMove(overlay, QPoint(139, 79))
    seen = overlay.grab().toImage()
    assert seen.pixelColor(120, 65).name() == "#0000ff"  # as it is
    assert seen.pixelColor(200, 200).red() < 200  # the rest is darker
