"""What the window asks about a weights file: the order of its classes, and of its layers."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QDialog, QRadioButton, QWidget

from workbench.core.format import count, share
from workbench.errors import WorkbenchError
from workbench.gui.common.weights_loader import WeightsLoader
from workbench.gui.kit.buttons import button
from workbench.gui.kit.labels import plain_label
from workbench.gui.kit.layout import STRETCH, Gap, column, row, scroll_area
from workbench.gui.kit.messages import ask_choice, show_notice
from workbench.protocol.weights import ClassOrder, LoadFindings

_SIZE_PX = QSize(640, 380)
_INDENT_PX = 26
_MOST_NAMES = 60

_WORDS = (
    "A weights file does not say which output is which class. Programs sort class names differently"
)
_TAKE, _CANCEL = "Take the order of the file", "Cancel"


class ClassOrderDialog(QDialog):
    """The orders that the classes of a file may have, each with its accuracy and its classes.

    Args:
        found: The orders.
        parent: The window.
    """

    def __init__(self, found: LoadFindings, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Order of the classes — Workbench")
        self.setWindowModality(Qt.WindowModality.WindowModal)
        self.resize(_SIZE_PX)
        self.choices = {order.key: QRadioButton(_sentence(order.title)) for order in found.orders}
        self.load = button("Load", role="primary")
        self.load.setEnabled(False)
        cancel = button("Cancel")
        for choice in self.choices.values():
            choice.toggled.connect(lambda _on: self.load.setEnabled(bool(self.chosen)))
        self.load.clicked.connect(lambda _=False: self.accept())
        cancel.clicked.connect(lambda _=False: self.reject())
        title = plain_label("In which order are the classes?", role="title")
        words = plain_label(f"{_WORDS}. {_measured(found)}", role="dim", wrap=True)
        listed = QWidget()
        parts = [part for order in found.orders for part in self._rows(order)]
        column(*parts, STRETCH, parent=listed, spacing=6)
        buttons = row(STRETCH, self.load, cancel)
        whole = (title, words, scroll_area(listed), buttons)
        column(*whole, parent=self, margins=(20, 18, 20, 16), spacing=12)

    @property
    def chosen(self) -> str:
        """Key of the order that is chosen; "" for none."""
        return next((key for key, choice in self.choices.items() if choice.isChecked()), "")

    def _rows(self, order: ClassOrder) -> list[QWidget]:
        more = len(order.names) - _MOST_NAMES
        names = ", ".join(order.names[:_MOST_NAMES]) + (
            f" and {count(more)} more" if more > 0 else ""
        )
        accuracy = "" if order.accuracy is None else f"{share(order.accuracy)} correct: "
        shown = plain_label(f"{accuracy}{names}", wrap=True)
        below = QWidget()
        row(Gap(_INDENT_PX), (shown, 1), parent=below, margins=(0, 0, 0, 8))
        return [self.choices[order.key], below]


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _measured(found: LoadFindings) -> str:
    if not found.num_images:
        return "There are no images to compare the orders with."
    return (
        f"On {count(found.num_images)} {found.part} no order is clearly the best of those that "
        "programs use."
    )


def connect_questions(loader: WeightsLoader, window: QWidget) -> None:
    """Lets the window ask what a file does not say, and say what is doubtful."""

    def ask_classes(path: str, found: LoadFindings) -> None:
        dialog = ClassOrderDialog(found, window)
        dialog.accepted.connect(lambda: loader.load(path, class_order=dialog.chosen))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def ask_layers(path: str, error: WorkbenchError) -> None:
        more = f"{error.received}\n\nSaved as a whole model (.keras), the file would say it."
        if ask_choice(window, error.what, more, (_TAKE, _CANCEL), default=1) == 0:
            loader.load(path, layer_order="file")

    loader.classes_asked.connect(ask_classes)
    loader.layers_asked.connect(ask_layers)
    loader.doubted.connect(lambda text: show_notice(window, "The weights were loaded.", text))
