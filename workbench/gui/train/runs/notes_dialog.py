"""A run's name, tags and note, in one small form."""

from __future__ import annotations

from PySide6.QtWidgets import QDialog, QDialogButtonBox, QLineEdit, QPlainTextEdit, QWidget

from workbench.gui.kit.labels import plain_label
from workbench.gui.kit.layout import Gap, add_to, column
from workbench.runs.library.summary import RunSummary
from workbench.runs.store.notes import MAX_TEXT, MAX_TITLE, RunNotes, tidy


class RunNotesDialog(QDialog):
    """Edits what people write about a run; `notes()` is what they wrote.

    `focus` is "rename", "tags" or "note": the field that is ready to be typed in.
    """

    def __init__(self, run: RunSummary, focus: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Name, tags and note — Workbench")
        self.setMinimumWidth(420)
        self.title = QLineEdit(run.own_title)
        self.title.setPlaceholderText(run.label)
        self.title.setMaxLength(MAX_TITLE)
        self.tags = QLineEdit(" ".join(run.tags))
        self.tags.setPlaceholderText("baseline paper")
        self.text = QPlainTextEdit(run.note)
        self.text.setPlaceholderText("What was tried, and the result")
        self.text.setTabChangesFocus(True)
        self.text.setMinimumHeight(120)
        form = column(parent=self, margins=(20, 16, 20, 16), spacing=6)
        for words, field in (("Name", self.title), ("Tags", self.tags), ("Note", self.text)):
            label = plain_label(words, role="dim")
            label.setBuddy(field)
            field.setAccessibleName(words)
            add_to(form, label, field)
            if field is self.tags:
                hint = "Separate tags with spaces. Filter runs with tag:baseline."
                form.addWidget(plain_label(hint, role="dim", wrap=True))
            add_to(form, Gap(6))
        kinds = QDialogButtonBox.StandardButton
        buttons = QDialogButtonBox(kinds.Save | kinds.Cancel)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        form.addWidget(buttons)
        wanted = {"tags": self.tags, "note": self.text}.get(focus, self.title)
        wanted.setFocus()
        if wanted is self.title:
            self.title.selectAll()

    def notes(self) -> RunNotes:
        """What was written, tidied."""
        tags = self.tags.text().replace(",", " ").split()
        text = self.text.toPlainText()[:MAX_TEXT]
        return tidy(RunNotes(title=self.title.text(), tags=tags, text=text))
