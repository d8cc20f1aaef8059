"""What the window asks about a weights file."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QLabel, QWidget

from workbench.errors import ClassOrderError, LayerOrderError, WeightsError
from workbench.gui.common import weights
from workbench.gui.common.weights import ClassOrderDialog, WeightsLoader, connect_questions
from workbench.protocol.messages import Done, Failed
from workbench.protocol.weights import ClassOrder, LoadFindings, LoadWeights
from workbench.protocol.wire import error_parts

ORDERS = [
    ClassOrder(key="data", title="the project's order", names=["1", "2", "10"], accuracy=0.3),
    ClassOrder(key="code_point", title="by codes", names=["1", "10", "2"], accuracy=0.4),
]
FOUND = LoadFindings(orders=ORDERS, num_images=40, part="test images")


class Service:
    """Keeps what was sent, and answers it."""

    def __init__(self) -> None:
        self.sent: list[LoadWeights] = []

    def send(self, request, handlers) -> int:
        self.sent.append(request)
        self.answer = handlers
        return len(self.sent)


@pytest.fixture
def service():
    return Service()


@pytest.fixture
def loader(qtbot, context, service):
    found = WeightsLoader(context.document, context.library, service)
    yield found
    found.deleteLater()


@pytest.fixture
def window(qtbot, loader):

    made = QWidget()
    qtbot.addWidget(made)
    made.show()
    connect_questions(loader, made)
    return made


def asked(window) -> ClassOrderDialog:
    return window.findChild(ClassOrderDialog)


def fail(service, error, *parts) -> None:
    for part in parts:
        service.answer(part)
    service.answer(Failed(id=1, error=error_parts(error)))


def test_the_order_of_classes_is_asked_with_its_accuracy_and_loaded(window, loader, service):
    loader.load("/x/a.keras")
    fail(service, ClassOrderError("Not known."), FOUND)
    dialog = asked(window)
    assert not dialog.load.isEnabled()
    texts = " ".join(label.text() for label in dialog.findChildren(QLabel))
    assert "40.0% correct: 1, 10, 2" in texts
    assert "40 test images" in texts
    dialog.choices["code_point"].click()
    dialog.load.click()
    assert [(each.weights, each.class_order) for each in service.sent] == [
        ("/x/a.keras", ""),
        ("/x/a.keras", "code_point"),
    ]


def test_a_question_that_is_canceled_loads_nothing(window, loader, service):
    loader.load("/x/a.keras")
    many = ClassOrder(key="data", title="t", names=[f"c{n}" for n in range(90)])
    fail(service, ClassOrderError("Not known."), LoadFindings(orders=[many]))
    dialog = asked(window)
    texts = " ".join(label.text() for label in dialog.findChildren(QLabel))
    assert "and 30 more" in texts
    assert "no images to compare" in texts
    dialog.reject()
    assert len(service.sent) == 1


@pytest.mark.usefixtures("window")
@pytest.mark.parametrize(("answer", "orders"), [(0, ["", "file"]), (1, [""])])
def test_the_order_of_layers_is_asked(loader, service, monkeypatch, answer, orders):
    monkeypatch.setattr(weights, "ask_choice", lambda *_, **__: answer)
    loader.load("/x/a.h5")
    fail(service, LayerOrderError("Not known.", received="“a”, “b”"))
    assert [each.layer_order for each in service.sent] == orders


@pytest.mark.usefixtures("window")
def test_a_doubt_is_shown_and_other_errors_are_errors(qtbot, loader, service, monkeypatch):
    shown = []
    monkeypatch.setattr(weights, "show_notice", lambda *words: shown.append(words[2]))
    loader.load("/x/a.h5")
    service.answer(LoadFindings(doubts=["May be another one."]))
    service.answer(Done(id=1, text="Loaded.", path="/nowhere"))
    assert shown == ["May be another one."]
    loader.load("/x/a.h5")
    with qtbot.waitSignal(loader.failed) as failed:
        fail(service, WeightsError("Damaged."))
    assert failed.args[0].what == "Damaged."
