"""Panel: the sources of images to classify."""

from __future__ import annotations

from workbench.gui.common.view_spec import PanelSpec, imported

SPEC = PanelSpec(
    key="classify_pictures",
    view="classify",
    title="Pictures",
    area="left",
    order=11,
    make=imported("workbench.gui.classify.pictures", "PicturesPanel"),
    stretch=1,
    waits="list",
)
