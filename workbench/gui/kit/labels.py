"""Labels that show text as it is: a name from a file is never read as mark-up."""

from __future__ import annotations

import re
from textwrap import fill
from typing import Literal

from PySide6.QtCore import QCoreApplication, QEvent, QSize, Qt
from PySide6.QtGui import QAction, QKeySequence, QResizeEvent
from PySide6.QtWidgets import QLabel, QListWidgetItem, QSizePolicy, QWidget

from workbench.gui.kit.theme import heading_font, ui_font

Role = Literal["text", "dim", "heading", "title", "strong", "value", "bad", "warning", "good"]

_NO_BREAK = "\N{NO-BREAK SPACE}"
_BREAK = "\N{ZERO WIDTH SPACE}"
TIP_LETTERS = 80
"""The longest line of a tooltip."""

_LINES = r"`[^`]*`(?:,? (?:or|then) `[^`]*`)*"
_IN_TERMINAL = re.compile(rf"[,;] in a terminal:?(?: by)? {_LINES}")
_COMMAND = re.compile(r"`(\S+ [^`]*)`")
_LONG_WORD = 20
"""Letters that fit a line of the narrowest panel."""
_WEIGHTS = {"strong": 600, "value": 600}


def plain_label(
    text: str = "", *, role: Role = "text", wrap: bool = False, parent: QWidget | None = None
) -> QLabel:
    """A label whose text is never read as mark-up.

    Args:
        text: What it says.
        role: Its look; colors come from the style sheet. "heading" is small capitals,
            "title" is large, "value" has figures of equal width.
        wrap: Breaks lines to the width it is given.
        parent: Owner.
    """
    label = _WrappedLabel(parent) if wrap else QLabel(parent)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setText(text)
    label.setProperty("role", role)
    if role == "heading":
        label.setFont(heading_font())
    elif role == "title":
        label.setFont(ui_font(20, weight=600))
    elif role in _WEIGHTS:
        label.setFont(ui_font(weight=_WEIGHTS[role], tabular=role == "value"))
    if wrap:
        label.setWordWrap(True)
        # Changed, not replaced: the policy also says that the height follows from the width.
        policy = label.sizePolicy()
        policy.setVerticalPolicy(QSizePolicy.Policy.Minimum)
        label.setSizePolicy(policy)
    return label


class _WrappedLabel(QLabel):
    """Breaks lines, but no shape: 24 × 24 × 32 stays on one line."""

    def setText(self, text: str) -> None:
        super().setText(unbroken(window_words(text)))


def window_words(text: str) -> str:
    """Words that terminals print too, as the window says them: "in the window by Open, in a
    terminal by `workbench open`" without the second half; another command stands in quotes.
    """
    return _COMMAND.sub(r"“\1”", _IN_TERMINAL.sub("", text)) if "`" in text else text


def unbroken(text: str) -> str:
    """Text whose shapes are not broken at the end of a line."""
    return re.sub(r"(?<=\d) × (?=\d)", f"{_NO_BREAK}×{_NO_BREAK}", text)


def breakable(text: str) -> str:
    """Text whose long words, as names of runs may be, can be broken at the end of a line. Not for
    what is copied: the places are characters of no width.
    """
    return re.sub(r"\S+", lambda word: _with_breaks(word[0]), text)


def _with_breaks(word: str) -> str:
    parts = re.findall(r"[^_.]{1,20}[_.]*|[_.]+", word)
    return word if len(word) <= _LONG_WORD else _BREAK.join(parts)


def heading_item(title: str, height_px: int) -> QListWidgetItem:
    """A line of a list that names what follows and cannot be chosen."""
    item = QListWidgetItem(title)
    item.setFlags(Qt.ItemFlag.NoItemFlags)
    item.setFont(heading_font())
    item.setSizeHint(QSize(0, height_px))
    return item


def set_role(widget: QWidget, role: str) -> None:
    """Gives a widget the look of another role."""
    restyle(widget, role=role)


def restyle(widget: QWidget, **properties: str | bool) -> None:
    """Sets properties that the style sheet selects by, and applies it again."""
    for name, value in properties.items():
        widget.setProperty(name, value)
    widget.style().unpolish(widget)
    widget.style().polish(widget)
    # A frame reads only from this event how wide its border is: else its content stays where the
    # border of before left it.
    QCoreApplication.sendEvent(widget, QEvent(QEvent.Type.StyleChange))


class ElidedLabel(QLabel):
    """One line of plain text, shortened with "…" where room is short; tooltip has it all.

    Args:
        text: What it says.
        parent: Owner.
        mode: Where the "…" is: a name is known by both its ends, a sentence by its start.
    """

    def __init__(
        self,
        text: str = "",
        parent: QWidget | None = None,
        mode: Qt.TextElideMode = Qt.TextElideMode.ElideMiddle,
    ) -> None:
        super().__init__(parent)
        self._mode = mode
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._full = ""
        self.set_full_text(text)

    @property
    def full_text(self) -> str:
        """The whole text, of which only a part may be shown."""
        return self._full

    def set_full_text(self, text: str, mode: Qt.TextElideMode | None = None) -> None:
        """Sets the whole text, and where it is shortened; what is shown depends on the width."""
        self._mode = self._mode if mode is None else mode
        self._full = " ".join(text.split())
        self.setToolTip(plain_tip(self._full))
        self._elide()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._elide()

    def _elide(self) -> None:
        room = max(self.width(), 40)
        self.setText(self.fontMetrics().elidedText(self._full, self._mode, room))


def action_tip(action: QAction) -> str:
    """The tooltip of a button for an action: its words and its first key, "Undo (Ctrl+Z)"."""
    return with_key(action.text().replace("&", "").rstrip("…"), action.shortcut())


def with_key(words: str, key: QKeySequence) -> str:
    """Words and, where there is one, the key that does the same, as a tooltip."""
    keys = key.toString(QKeySequence.SequenceFormat.NativeText)
    return plain_tip(f"{words} ({keys})" if keys else words)


def plain_tip(text: str) -> str:
    """A tooltip's text, in lines that fit a small screen and safe from being read as mark-up.

    Qt reads a tooltip as rich text when it looks like it; without "<" it never does, and breaks no
    line either.
    """
    lines = window_words(text).replace("<", "‹").replace(">", "›").split("\n")
    return "\n".join(map(_broken, lines))


def _broken(line: str) -> str:
    return line if len(line) <= TIP_LETTERS else fill(line, TIP_LETTERS, break_on_hyphens=False)
