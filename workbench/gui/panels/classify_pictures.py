"""Where pictures come from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget

from workbench.gui.common.panel_spec import PanelSpec

if TYPE_CHECKING:
    from workbench.gui.classify.state import ClassifyState


def _make(state: ClassifyState) -> QWidget:
    from workbench.gui.classify.pictures import PicturesPanel

    return PicturesPanel(state)


SPEC = PanelSpec(
    key="classify_pictures",
    view="classify",
    title="Pictures",
    area="left",
    order=20,
    make=_make,
    stretch=1,
)
