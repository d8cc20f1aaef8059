"""The line above a folder's answers while another model is chosen than the one that gave them."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from workbench.gui.kit.buttons import ElidedButton
from workbench.gui.kit.labels import plain_label, plain_tip
from workbench.gui.kit.layout import row


class OtherModelLine(QWidget):
    """Names both models, and has a button that classifies again with the chosen one.

    Signals:
        again(): The button was clicked.
    """

    again = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.words = plain_label(role="warning", wrap=True)
        self.button = ElidedButton("")
        self.button.clicked.connect(lambda _=False: self.again.emit())
        line = row((self.words, 1), self.button, parent=self, spacing=12)
        line.setAlignment(self.button, Qt.AlignmentFlag.AlignVCenter)
        self.hide()

    def show_models(self, used: str, chosen: str, *, is_complete: bool) -> None:
        """Shows the titles of the model that gave the answers and of the one that is chosen; only
        complete answers can be replaced.
        """
        if is_complete:
            words = f"These are predictions of {used}. The chosen model is {chosen}."
        else:
            words = f"The images are classified with {used}, not with the chosen {chosen}."
        self.words.setText(words)
        again = f"Classify again with {chosen}"
        self.button.setText(again.replace("&", "&&"))
        self.button.setToolTip(plain_tip(again))
        self.button.setVisible(is_complete)
        self.show()
