"""Message boxes: errors with all their parts, and the questions the window asks."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QInputDialog, QLineEdit, QMessageBox, QWidget

from workbench.errors import WorkbenchError
from workbench.gui.kit.labels import window_words
from workbench.gui.kit.working_dialog import InstallDialog
from workbench.parts import part_to_install

_FIELD_PX = 420
"""Width of a field for a line of text."""

_UNSAVED_TEXTS = {
    QMessageBox.StandardButton.Save: "&Save",
    QMessageBox.StandardButton.Discard: "&Discard",
    QMessageBox.StandardButton.Cancel: "&Cancel",
}
"""With Alt keys, also where the platform's own texts have none."""


class Answer(Enum):
    """What the user chose when asked about unsaved changes."""

    SAVE = "save"
    DISCARD = "discard"
    CANCEL = "cancel"


def error_text(error: WorkbenchError) -> str:
    """The parts of an error after its first sentence, a line each."""
    return "\n".join(filter(None, (error_details(error), error.fix)))


def error_details(error: WorkbenchError) -> str:
    """Lines with the place of an error, what was received and what was expected."""
    parts = (
        ("Where", error.where),
        ("Received", error.received),
        ("Expected", error.expected),
    )
    return "\n".join(f"{name}: {text}" for name, text in parts if text)


def show_error(parent: QWidget | None, error: WorkbenchError) -> None:
    """Shows what happened and what to do, the details folded, and waits for OK."""
    part = part_to_install(error.fix)
    # Its button is below.
    fix = error.fix if part is None else error.fix.replace(f"{part.install_words}.", "").strip()
    box = make_box(parent, QMessageBox.Icon.Warning, error.what, fix)
    box.setDetailedText(error_details(error))
    if part is None:
        box.exec()
        return
    box.addButton(QMessageBox.StandardButton.Close)
    install = box.addButton(f"Install {part.library}…", QMessageBox.ButtonRole.ActionRole)
    box.exec()
    if box.clickedButton() is install:
        InstallDialog(part, parent).exec()


def show_notice(parent: QWidget | None, what: str, more: str = "") -> None:
    """Shows a sentence and waits for OK."""
    make_box(parent, QMessageBox.Icon.Information, what, more).exec()


def ask_unsaved(parent: QWidget | None, name: str) -> Answer:
    """Asks what to do with unsaved changes."""
    box = make_box(
        parent,
        QMessageBox.Icon.Question,
        f"Save changes to “{name}”?",
        "Your changes will be lost if you don't save them.",
    )
    buttons = QMessageBox.StandardButton
    box.setStandardButtons(buttons.Save | buttons.Discard | buttons.Cancel)
    for kind, text in _UNSAVED_TEXTS.items():
        box.button(kind).setText(text)
    box.setDefaultButton(buttons.Save)
    answers = {buttons.Save: Answer.SAVE, buttons.Discard: Answer.DISCARD}
    return answers.get(buttons(box.exec()), Answer.CANCEL)


def ask_choice(
    parent: QWidget | None, what: str, more: str, choices: Sequence[str], *, default: int = 0
) -> int:
    """Asks to choose; Enter takes `default`, Esc the last. Returns the index of the choice."""
    box = make_box(parent, QMessageBox.Icon.Question, what, more)
    box.setStandardButtons(QMessageBox.StandardButton.NoButton)
    buttons = [box.addButton(text, QMessageBox.ButtonRole.ActionRole) for text in choices]
    box.setDefaultButton(buttons[default])
    box.setEscapeButton(buttons[-1])
    box.exec()
    clicked = box.clickedButton()
    return buttons.index(clicked) if clicked in buttons else -1


def ask_text(parent: QWidget | None, title: str, label: str, text: str = "") -> str | None:
    """Asks for a line of text, in a dialog that is wide enough for its title and for what is
    typed; None where it was canceled.
    """
    dialog = QInputDialog(parent)
    dialog.setWindowTitle(title)
    dialog.setLabelText(label)
    dialog.setTextValue(text)
    field = dialog.findChild(QLineEdit)
    if field is not None:
        field.setMinimumWidth(_FIELD_PX)
        field.selectAll()
    is_given = dialog.exec() == QInputDialog.DialogCode.Accepted
    dialog.deleteLater()
    return dialog.textValue() if is_given else None


def make_box(parent: QWidget | None, icon: QMessageBox.Icon, what: str, more: str) -> QMessageBox:
    """A message box with plain texts."""
    box = QMessageBox(parent)
    box.setWindowTitle("Workbench")
    box.setTextFormat(Qt.TextFormat.PlainText)
    box.setIcon(icon)
    box.setText(window_words(what))
    # The informative text has no plain format of its own: "<" is what would make it rich.
    box.setInformativeText(window_words(more).replace("<", "‹").replace(">", "›"))
    return box
