"""The pictures that were classified before, the latest first."""

from __future__ import annotations

from PySide6.QtWidgets import QFrame

from workbench.gui.classify.classified import ClassifiedPicture
from workbench.gui.classify.picture_strip import PictureStrip
from workbench.gui.classify.state import ClassifyState
from workbench.gui.kit.labels import plain_label
from workbench.gui.kit.layout import column


class EarlierPanel(QFrame):
    """A strip of pictures; a click shows one large again."""

    def __init__(self, state: ClassifyState) -> None:
        super().__init__()
        self.setProperty("role", "card")
        self._shown: ClassifiedPicture | None = None
        self.strip = PictureStrip(state.context.theme, "Recent predictions", is_one_row=True)
        self.strip.set_hint("Classified images appear here.")
        heading = plain_label("Recent predictions", role="heading")
        column(heading, self.strip, parent=self, margins=(14, 10, 14, 4), spacing=6)
        self._state = state
        self.strip.chosen.connect(state.shown)
        state.classified.connect(self._on_classified)
        state.reclassified.connect(self._on_reclassified)
        state.outdated.connect(self._on_outdated)
        state.cleared.connect(self._on_cleared)
        state.shown.connect(self._on_shown)
        state.listing_changed.connect(self.setHidden)  # the table needs the room

    def _on_classified(self, entry: ClassifiedPicture) -> None:
        words, tip, mood = _line(entry)
        name = entry.answer.file
        self.strip.add(entry, entry.picture, words, tip=tip, mood=mood, at_front=True, name=name)
        if entry is self._shown:
            self.strip.mark(entry)

    def _on_reclassified(self, entry: ClassifiedPicture) -> None:
        words, tip, mood = _line(entry)
        self.strip.replace(entry.answer.file, entry, words, tip=tip, mood=mood)

    def _on_outdated(self) -> None:
        self.strip.outdate(f"Classifying with {self._state.title}")

    def _on_cleared(self) -> None:
        self._shown = None
        self.strip.clear_tiles()

    def _on_shown(self, entry: ClassifiedPicture) -> None:
        self._shown = entry
        self.strip.mark(entry)


def _line(entry: ClassifiedPicture) -> tuple[str, str, str]:
    """Words, tooltip and mood of a tile."""
    is_bad = entry.answer.error is not None or entry.is_right is False
    words = entry.words()
    tip = " · ".join(
        filter(None, (f"{entry.name}: {words}", entry.answer.unknown, entry.label_words()))
    )
    return words, tip, "bad" if is_bad else "good" if entry.is_right else ""
