"""The images that were classified before."""

from __future__ import annotations

from workbench.gui.common.view_spec import PanelSpec, imported

SPEC = PanelSpec(
    key="classify_earlier",
    view="classify",
    title="Recent predictions",
    area="left",
    order=30,
    make=imported("workbench.gui.classify.pictures", "EarlierPanel"),
)
