"""The pictures that were classified before."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget

from workbench.gui.common.panel_spec import PanelSpec

if TYPE_CHECKING:
    from workbench.gui.classify.state import ClassifyState


def _make(state: ClassifyState) -> QWidget:
    from workbench.gui.classify.earlier import EarlierPanel

    return EarlierPanel(state)


SPEC = PanelSpec(
    key="classify_earlier",
    view="classify",
    title="Recent predictions",
    area="left",
    order=30,
    make=_make,
    gives_way=True,
)
