"""One class with what can be done with it: left out, renamed, its images browsed."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QWidget

from workbench.core.format import plural
from workbench.gui.data.class_row import ClassRow
from workbench.gui.kit.buttons import IconButton
from workbench.gui.kit.labels import ElidedLabel, plain_tip
from workbench.gui.kit.layout import row
from workbench.gui.kit.theme import Theme
from workbench.protocol.browsing import OwnClass


class ClassLine(QWidget):
    """A class of the project.

    Signals:
        left_out: The class is to be left out.
        browsed: All its images are to be shown.
    """

    left_out = Signal()
    browsed = Signal()

    def __init__(self, theme: Theme, class_row: ClassRow) -> None:
        super().__init__()
        self.class_row = class_row
        name = class_row.description.name
        self.used = _check_box(name, is_used=True)
        self.used.clicked.connect(lambda _=False: self.left_out.emit())
        self.browse = IconButton(theme, "grid", f"Browse the images of {name}")
        self.browse.clicked.connect(lambda _=False: self.browsed.emit())
        row(self.used, (class_row, 1), self.browse, parent=self, spacing=6)


class LeftOutLine(QWidget):
    """A class of the data set that the project does not use.

    Signals:
        restored: The class is to be used again.
    """

    restored = Signal()

    def __init__(self, own: OwnClass) -> None:
        super().__init__()
        self.used = _check_box(own.name, is_used=False)
        self.used.clicked.connect(lambda _=False: self.restored.emit())
        words = ElidedLabel(f"{own.name}: left out, {plural(own.num_images, 'image')}")
        words.setProperty("role", "dim")
        self.setMinimumHeight(32)
        row(self.used, (words, 1), parent=self, spacing=6)


def _check_box(name: str, *, is_used: bool) -> QCheckBox:
    box = QCheckBox()
    box.setChecked(is_used)
    box.setAccessibleName(f"Use the class {name}")
    tip = "Leave the class out. Its files stay." if is_used else "Use the class again."
    box.setToolTip(plain_tip(tip))
    box.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    return box
