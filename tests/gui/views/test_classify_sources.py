"""Where images to classify come from in the window: web addresses."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QUrl
from PySide6.QtGui import QGuiApplication

from tests.gui.views.scripted import cat
from workbench.gui.classify.sources import all_sources, from_web
from workbench.protocol.bases import ErrorParts
from workbench.protocol.classify import Classify, FetchPicture
from workbench.protocol.messages import Done, Failed, Progress


@pytest.fixture
def agreed(monkeypatch):
    """Connecting is agreed to; the questions."""
    questions = []

    def ask(_parent, what, more, choices, *, default):
        questions.append((what, more, choices[default]))
        return 0

    monkeypatch.setattr(from_web, "ask_choice", ask)
    return questions


def paste(view, text):
    QGuiApplication.clipboard().setText(text)
    view.state.source_chosen.emit("from_clipboard")


def is_asked(service, kind):
    return any(isinstance(request, kind) for request, _ in service.asked)


def test_sources_are_buttons_or_in_the_menu_and_name_why_they_cannot_be_used(ready, tmp_path):
    drop = ready.panels["classify_pictures"].drop
    menu = drop.more.menu()
    menu.aboutToShow.emit()
    listed = {action.text().split(" — ")[0]: action for action in menu.actions()}
    on_buttons = [each.text() for each in drop.buttons.values()]
    assert sorted([*listed, *on_buttons]) == sorted(s.text for s in all_sources().values())
    assert listed["Folder to CSV file…"].isEnabled()
    ready.classify_folder(str(tmp_path))
    menu.aboutToShow.emit()
    words = "Folder to CSV file… — A folder is being classified"
    action = next(each for each in menu.actions() if each.text() == words)
    assert not action.isEnabled()
    assert "A folder is being classified." in action.toolTip()


def test_a_pasted_address_is_downloaded_by_the_worker_once_it_is_agreed(
    qtbot, ready, service, agreed
):
    paste(ready, " https://flowers.example/garden/a%20rose.png\n")
    assert agreed[0][0] == "Connect to flowers.example?"
    assert "https://flowers.example/garden/a%20rose.png" in agreed[0][1]
    assert agreed[0][2] == "Cancel"  # what Enter takes
    request, answer = service.take(FetchPicture)
    assert request.address == "https://flowers.example/garden/a%20rose.png"
    assert Path(request.path).parent.is_dir()
    assert not Path(request.path).exists()
    drop = ready.panels["classify_pictures"].drop
    assert drop.stops["from_web"].isVisible()
    answer(Progress(id=1, text="Downloading the image from flowers.example: 0.1 of 1.0 MB"))
    assert ready.wait.text().startswith("Downloading the image from flowers.example: 0.1 of")
    answer(Done(id=1, path=request.path))
    assert not drop.stops
    asked, reply = service.take(Classify)
    assert asked.pictures == [request.path]
    reply(cat(request.path))
    reply(Done(id=1))
    card = ready.panels["classify_result"]
    qtbot.waitUntil(lambda: card.entry is not None)
    assert card.entry.name == "a rose.png · flowers.example"


def test_a_pasted_link_of_a_browser_is_an_address(ready, service, agreed):
    mime = QMimeData()
    mime.setUrls([QUrl("https://flowers.example/rose.png")])
    mime.setText("https://flowers.example/rose.png")
    QGuiApplication.clipboard().setMimeData(mime)
    ready.state.source_chosen.emit("from_clipboard")
    assert service.take(FetchPicture)[0].address == "https://flowers.example/rose.png"
    assert len(agreed) == 1


def test_several_addresses_are_downloaded_one_after_the_other(ready, service, agreed):
    paste(ready, "http://a.example/1.png\nhttp://b.example/2.png\nhttp://a.example/1.png")
    assert agreed[0][0] == "Connect to 2 servers?"
    first, answer = service.take(FetchPicture)
    assert not is_asked(service, FetchPicture)
    assert "1 more image" in ready.wait.text()
    answer(Failed(id=1, error=ErrorParts(what="The image could not be downloaded: too slow.")))
    assert "too slow" in ready.wait.text() or is_asked(service, FetchPicture)
    second, _ = service.take(FetchPicture)
    assert [first.address, second.address] == ["http://a.example/1.png", "http://b.example/2.png"]
    assert first.path != second.path


def test_a_download_can_be_canceled(ready, service, agreed):
    called_off = []
    service.cancel = called_off.append
    paste(ready, "http://a.example/1.png\nhttp://b.example/2.png")
    _, answer = service.take(FetchPicture)
    drop = ready.panels["classify_pictures"].drop
    drop.stops["from_web"].click()
    assert len(called_off) == 1
    assert ready.wait.text() == "The download was canceled."
    answer(Failed(id=1, error=ErrorParts(what="Canceled.")))
    assert ready.wait.text() == "The download was canceled."
    assert not is_asked(service, FetchPicture)
    assert not drop.stops
    paste(ready, "http://c.example/3.png")
    assert service.take(FetchPicture)[0].address == "http://c.example/3.png"


def test_without_agreement_nothing_is_contacted(ready, service, monkeypatch):
    monkeypatch.setattr(from_web, "ask_choice", lambda *_, **__: 1)
    paste(ready, "http://a.example/1.png")
    assert not is_asked(service, FetchPicture)


@pytest.mark.parametrize("text", ["ftp://a.example/1.png", "http://a.example/1.png\na daisy"])
def test_other_texts_are_no_addresses(ready, service, agreed, text):
    paste(ready, text)
    assert not agreed
    assert ready.wait.text().startswith("The clipboard contains no image.")


def test_the_error_of_an_address_ends_with_the_next_one_also_where_that_is_canceled(
    ready, service, agreed, monkeypatch
):
    paste(ready, "https://flowers.example/rose.png")
    error = ErrorParts(what="The image could not be downloaded.")
    service.take(FetchPicture)[1](Failed(id=1, error=error))
    assert "could not be downloaded" in ready.wait.text()
    monkeypatch.setattr(from_web, "ask_choice", lambda *_, **__: 1)
    paste(ready, "https://flowers.example/tulip.png")
    assert ready.wait.text() == ""


def test_too_many_addresses_are_refused(ready, service, agreed):
    paste(ready, "\n".join(f"http://a.example/{number}.png" for number in range(21)))
    assert not agreed
    assert "too many web addresses" in ready.wait.text()


@pytest.mark.parametrize(
    ("text", "is_right"), [(" https://a.example/1.png ", True), ("a.example/1.png", False)]
)
def test_a_typed_address_needs_no_question(ready, service, monkeypatch, text, is_right):
    monkeypatch.setattr(from_web, "ask_text", lambda *_: text)
    ready.state.source_chosen.emit("from_web")
    assert is_asked(service, FetchPicture) is is_right
    assert ("not a web address" in ready.wait.text()) is not is_right
