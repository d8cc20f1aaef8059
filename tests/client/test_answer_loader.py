"""Requests whose answers are read in a thread: the latest alone is shown, or why it cannot be."""

from __future__ import annotations

import pytest

from tests.gui.views.scripted import ScriptedService
from workbench.client.background import Background
from workbench.client.service_process import AnswerLoader
from workbench.errors import PictureError
from workbench.protocol.bases import ErrorParts
from workbench.protocol.classify import WarmUp
from workbench.protocol.messages import Done, Failed, Progress


def read(answer):
    if not answer.path:
        raise PictureError("There is no file.")
    return f"read {answer.path}"


@pytest.fixture
def background(qapp):
    background = Background(max_threads=1)
    yield background
    background.close()


@pytest.fixture
def service():
    return ScriptedService()


@pytest.fixture
def loader(service, background):
    return AnswerLoader(service, background, read, background)


def ask(loader, service):
    """Sends a request; what answers it."""
    loader.ask(WarmUp(id=0, model="m"))
    return service.take(WarmUp)[1]


def test_it_is_open_until_the_answer_is_read(qtbot, loader, service):
    answer = ask(loader, service)
    with qtbot.waitSignal(loader.waiting) as said:
        answer(Progress(id=1, text="Loading the model"))
    assert said.args == ["Loading the model"]
    with qtbot.waitSignal(loader.loaded) as found:
        answer(Done(id=1, path="a"))
        assert loader.is_open
    assert found.args == ["read a"]
    assert not loader.is_open


def test_what_was_read_for_an_earlier_request_is_not_shown(qtbot, loader, service):
    found = []
    loader.loaded.connect(found.append)
    loader.failed.connect(found.append)
    first = ask(loader, service)
    first(Done(id=1, path="first"))  # being read
    second = ask(loader, service)
    second(Done(id=2))  # being read, in vain
    third = ask(loader, service)
    with qtbot.waitSignal(loader.loaded):
        third(Done(id=3, path="third"))
    assert found == ["read third"]


def test_a_failure_of_either_step_ends_it(qtbot, loader, service):
    with qtbot.waitSignal(loader.failed) as found:
        ask(loader, service)(Done(id=1))
    assert found.args[0].what == "There is no file."
    with qtbot.waitSignal(loader.failed) as found:
        ask(loader, service)(Failed(id=2, error=ErrorParts(what="Canceled.")))
    assert found.args[0].what == "Canceled."
    assert not loader.is_open
