"""The pictures that were classified before, the latest first."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtWidgets import QFrame, QVBoxLayout

from workbench.gui.classify.classified import ClassifiedPicture
from workbench.gui.classify.picture_strip import PictureStrip
from workbench.gui.classify.state import ClassifyState
from workbench.gui.kit.labels import plain_label

MAX_KEPT = 200

_MOODS: Mapping[bool | None, str] = {True: "good", False: "bad", None: ""}


class EarlierPanel(QFrame):
    """A strip of pictures; a click shows one large again."""

    def __init__(self, state: ClassifyState) -> None:
        super().__init__()
        self._state = state
        self._entries: dict[int, ClassifiedPicture] = {}
        self._next_key = 0
        self.setProperty("role", "card")
        self.strip = PictureStrip(state.context.theme, "Recent predictions", is_one_row=True)
        column = QVBoxLayout(self)
        column.setContentsMargins(14, 10, 14, 4)
        column.setSpacing(6)
        column.addWidget(plain_label("Recent predictions", role="heading"))
        column.addWidget(self.strip)
        self.strip.chosen.connect(self._on_chosen)
        state.classified.connect(self._on_classified)

    def _on_classified(self, entry: ClassifiedPicture) -> None:
        key, self._next_key = self._next_key, self._next_key + 1
        self._entries[key] = entry
        self._entries.pop(key - MAX_KEPT, None)
        mood = "bad" if entry.answer.error is not None else _MOODS[entry.is_right]
        words = entry.words()
        tip = f"{entry.name}: {words}"
        self.strip.add(key, entry.picture, words, tip=tip, mood=mood, at_front=True)

    def _on_chosen(self, key: object) -> None:
        entry = self._entries.get(key) if isinstance(key, int) else None
        if entry is not None:
            self._state.shown.emit(entry)
