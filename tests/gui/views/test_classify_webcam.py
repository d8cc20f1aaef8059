"""The webcam in the window: the newest frame alone, one request, and what is missing."""

from __future__ import annotations

import threading

import pytest
from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QColor, QImage

from tests.gui.views.scripted import cat
from workbench.gui.classify import webcam as parts
from workbench.gui.classify.sources import webcam
from workbench.gui.classify.webcam import MAX_PX, LiveFrames
from workbench.gui.kit.dialogs import InstallDialog
from workbench.parts import WEBCAM, Part
from workbench.protocol.bases import ErrorParts
from workbench.protocol.classify import Classify
from workbench.protocol.messages import Done, Failed


def frame(color, size=(64, 48)):
    image = QImage(*size, QImage.Format.Format_RGB32)
    image.fill(QColor(color))
    return image


def asked(service):
    return [request for request, _ in service.asked if isinstance(request, Classify)]


@pytest.fixture
def live(ready):
    frames = LiveFrames(ready.state, ready)
    yield frames
    frames.close()


def shown(frames):
    """The colors of the frames that were shown."""
    found = []
    frames.pictured.connect(lambda image: found.append(image.pixelColor(1, 1).name()))
    return found


def test_only_the_newest_frame_is_converted_while_one_is_under_way(qtbot, live):
    colors, free = shown(live), threading.Event()

    def slow():
        free.wait()
        return frame("red")

    live.take(slow)
    for color in ("lime", "yellow", "blue"):
        live.take(lambda color=color: frame(color))
    free.set()
    qtbot.waitUntil(lambda: len(colors) == 2)
    assert colors == ["#ff0000", "#0000ff"]


def test_one_request_is_under_way_and_the_next_is_of_the_newest_frame(qtbot, live, service):
    answers, colors = [], shown(live)
    live.answered.connect(answers.append)
    live.take(lambda: frame("red"))
    qtbot.waitUntil(lambda: len(asked(service)) == 1)
    for color in ("lime", "blue"):
        live.take(lambda color=color: frame(color))
        qtbot.waitUntil(lambda color=color: colors[-1] == QColor(color).name())
    request, answer = service.take(Classify)
    assert QImage(request.pictures[0]).pixelColor(1, 1).name() == "#ff0000"
    assert asked(service) == []
    answer(cat(request.pictures[0]))
    answer(Done(id=1))
    assert [each.label for each in answers] == ["cat"]
    qtbot.waitUntil(lambda: len(asked(service)) == 1)
    (request,) = asked(service)
    assert QImage(request.pictures[0]).pixelColor(1, 1).name() == "#0000ff"


def test_after_a_failure_the_next_frame_is_tried(qtbot, live, service):
    errors = []
    live.failed.connect(errors.append)
    live.take(lambda: frame("red"))
    qtbot.waitUntil(lambda: len(asked(service)) == 1)
    service.take(Classify)[1](Failed(id=1, error=ErrorParts(what="The worker was killed.")))
    assert [error.what for error in errors] == ["The worker was killed."]
    assert asked(service) == []
    live.take(lambda: frame("blue"))
    qtbot.waitUntil(lambda: len(asked(service)) == 1)


def test_a_large_frame_is_made_smaller(qtbot, live):
    live.take(lambda: frame("red", (1920, 1080)))
    qtbot.waitUntil(lambda: not live.image.isNull())
    assert (live.image.width(), live.image.height()) == (MAX_PX, 360)


def test_a_frame_that_cannot_be_converted_stops_nothing(qtbot, live):
    def broken():
        raise OSError("no memory")

    errors, colors = [], shown(live)
    live.failed.connect(errors.append)
    live.take(QImage)
    live.take(broken)
    qtbot.waitUntil(lambda: len(errors) == 1)
    live.take(lambda: frame("blue"))
    qtbot.waitUntil(lambda: colors == ["#0000ff"])


@pytest.mark.parametrize("is_installed", [False, True])
def test_without_package_or_camera_the_menu_gives_the_reason(ready, monkeypatch, is_installed):
    class NoDevices:
        videoInputs = staticmethod(list)  # noqa: N815 - Qt's name
        defaultVideoInput = staticmethod(lambda: None)  # noqa: N815

    module = type("Module", (), {"QMediaDevices": NoDevices}) if is_installed else None
    monkeypatch.setattr(parts, "multimedia", lambda: module)
    monkeypatch.setattr(Part, "is_installed", property(lambda _part: is_installed))
    reason = parts.webcam_reason()
    menu = ready.panels["classify_pictures"].drop.more.menu()
    menu.aboutToShow.emit()
    action = next(each for each in menu.actions() if each.text().startswith("Webcam…"))
    assert action.isEnabled() != is_installed  # what is missing can be installed
    why = "No camera was found" if is_installed else "Qt Multimedia is not installed"
    assert action.text() == f"Webcam… — {why}"
    assert menu.toolTipsVisible()
    assert action.toolTip().replace("&nbsp;", " ").find(reason[:20]) >= 0
    ready.state.source_chosen.emit("webcam")
    if is_installed:
        assert ready.wait.text() == reason
        return
    dialog = ready.window().findChild(InstallDialog)
    assert dialog.line.text() == WEBCAM.install_command
    dialog.reject()


# a camera of Qt's kind, without a device --------------------------------------------------------


class Device:
    def __init__(self, name):
        self.name = name

    def description(self):
        return self.name


class Camera(QObject):
    errorOccurred = Signal(object, str)  # noqa: N815 - Qt's name
    running = []  # noqa: RUF012 - of the class: which are on

    def __init__(self, device, parent):
        super().__init__(parent)
        self.name = device.name

    def start(self):
        self.running.append(self.name)

    def stop(self):
        self.running.remove(self.name)


class Sink(QObject):
    videoFrameChanged = Signal(object)  # noqa: N815


class Session(QObject):
    def setVideoSink(self, sink):
        self.sink = sink

    def setCamera(self, camera):
        self.camera = camera


class Frame:
    """What a sink hands out."""

    def __init__(self, image):
        self._image = image

    def isValid(self):
        return not self._image.isNull()

    def toImage(self):
        return self._image


def real_or_not():
    """The sink and the frames of Qt Multimedia where that is installed, and ours elsewhere."""
    module = parts.multimedia()
    plain = {"QCamera": Camera, "QMediaCaptureSession": Session}
    if module is None:
        return type("Module", (), {**plain, "QVideoSink": Sink}), Frame
    return type("Module", (), {**plain, "QVideoSink": module.QVideoSink}), module.QVideoFrame


@pytest.fixture
def dialog(ready, monkeypatch):
    module, make_frame = real_or_not()
    Camera.running.clear()
    monkeypatch.setattr(webcam, "multimedia", lambda: module)
    monkeypatch.setattr(webcam, "cameras", lambda: [Device("front"), Device("back")])
    ready.state.source_chosen.emit("webcam")
    found = ready.panels["classify_pictures"].sources["webcam"].dialog
    found.put = lambda color: found.sink.videoFrameChanged.emit(make_frame(frame(color)))
    return found


@pytest.mark.qt_log_ignore("Couldn't (load|resolve)", "QRhi", "propagateSizeHints", extend=True)
def test_the_bars_follow_the_camera_and_a_frame_is_kept(qtbot, dialog, ready, service):
    assert Camera.running == ["front"]
    assert not dialog.keep.isEnabled()
    dialog.put("red")
    qtbot.waitUntil(lambda: len(asked(service)) == 1)
    assert dialog.preview.image.pixelColor(1, 1).name() == "#ff0000"
    request, answer = service.take(Classify)
    answer(cat(request.pictures[0]))
    answer(Done(id=1))
    assert dialog.label.full_text == "cat 90.0%"
    assert dialog.bars.scores == [("cat", 0.9), ("dog", 0.1)]
    dialog.keep.click()
    qtbot.waitUntil(lambda: len(asked(service)) == 1)
    (kept,) = asked(service)
    assert kept.previews
    assert QImage(kept.pictures[0]).pixelColor(1, 1).name() == "#ff0000"
    dialog.choice.setCurrentIndex(1)
    dialog.choice.activated.emit(1)
    assert Camera.running == ["back"]


def test_closing_it_frees_the_camera_and_it_can_be_opened_again(qtbot, dialog, ready):
    source = ready.panels["classify_pictures"].sources["webcam"]
    ready.state.source_chosen.emit("webcam")  # the same window
    assert source.dialog is dialog
    dialog.stop.click()
    assert Camera.running == []
    qtbot.waitUntil(lambda: source.dialog is None)
    ready.state.source_chosen.emit("webcam")
    assert Camera.running == ["front"]


def test_the_camera_is_free_when_the_window_closes(dialog, ready):
    ready.close_background()
    assert Camera.running == []
    assert not dialog.isVisible()


def test_a_camera_that_cannot_be_used_is_named(dialog):
    dialog.camera.errorOccurred.emit(None, "in use")
    assert dialog.status.text().startswith("The camera cannot be used: in use.")
