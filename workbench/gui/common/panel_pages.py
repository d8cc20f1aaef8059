"""Panels that share one place: pages, one in front."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtWidgets import QStackedWidget, QWidget

from workbench.gui.kit.buttons import SegmentedSwitch
from workbench.gui.kit.layout import STRETCH, column, row


class PanelPages(QWidget):
    """A switch above, one page below it.

    Args:
        titles: Key -> title of each panel.
        panels: Key -> panel.

    Attributes:
        switch: Chooses the page.
        current: Key of the page in front.
    """

    def __init__(self, titles: Mapping[str, str], panels: Mapping[str, QWidget]) -> None:
        super().__init__()
        self.switch = SegmentedSwitch([*titles.items()], is_narrow=True)
        self.switch.chosen.connect(self.show_page)
        self._pages = QStackedWidget()
        self._places = {key: self._wrapped(panel) for key, panel in panels.items()}
        self._shown = [*titles]
        self.current = ""
        column(row(self.switch, STRETCH), (self._pages, 1), parent=self, spacing=8)
        self.show_page(self._shown[0])

    def _wrapped(self, panel: QWidget) -> QWidget:
        """A page of its own: that a panel is hidden is not up to the stack."""
        page = QWidget()
        column((panel, 1), parent=page)
        self._pages.addWidget(page)
        return page

    def show_page(self, key: str) -> None:
        """Brings a panel to the front."""
        self.current = key
        self.switch.set_current(key)
        self._pages.setCurrentWidget(self._places[key])

    def set_shown(self, keys: list[str]) -> None:
        """Offers these panels alone."""
        self._shown = keys
        self.switch.set_offered(keys)
        if keys and self.current not in keys:
            self.show_page(keys[0])
