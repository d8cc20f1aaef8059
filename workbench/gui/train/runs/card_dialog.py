"""What only people know of a model: the texts of the model card in its report."""

from __future__ import annotations

from PySide6.QtWidgets import QDialog, QDialogButtonBox, QPlainTextEdit, QWidget

from workbench.gui.kit.labels import plain_label
from workbench.gui.kit.layout import Gap, add_to, column
from workbench.runs.store.notes import CARD_FIELDS, MAX_CARD_TEXT, CardText


class ModelCardDialog(QDialog):
    """Edits the texts; `card()` is what was written."""

    def __init__(self, name: str, card: CardText, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Model card — Workbench")
        self.setMinimumWidth(480)
        self.fields: dict[str, QPlainTextEdit] = {}
        form = column(parent=self, margins=(20, 16, 20, 16), spacing=6)
        words = f"For the report of {name}. Figures are filled in by themselves."
        add_to(form, plain_label(words, role="dim", wrap=True), Gap(6))
        for key, title, hint in CARD_FIELDS:
            field = self.fields[key] = QPlainTextEdit(getattr(card, key))
            field.setPlaceholderText(f"{hint[:1].upper()}{hint[1:]}")
            field.setTabChangesFocus(True)
            field.setMinimumHeight(84)
            field.setAccessibleName(title)
            label = plain_label(title)
            label.setBuddy(field)
            add_to(form, label, field, Gap(6))
        kinds = QDialogButtonBox.StandardButton
        buttons = QDialogButtonBox(kinds.Save | kinds.Cancel)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        form.addWidget(buttons)

    def card(self) -> CardText:
        """What was written."""
        texts = {key: field.toPlainText()[:MAX_CARD_TEXT] for key, field in self.fields.items()}
        return CardText(**texts)
