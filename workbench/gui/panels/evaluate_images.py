"""The images of an evaluation: of a cell of the matrix, or those with the largest losses."""

from __future__ import annotations

from workbench.gui.common.view_spec import PanelSpec, imported

SPEC = PanelSpec(
    key="evaluate_images",
    view="evaluate",
    title="Images",
    area="left",
    order=15,
    make=imported("workbench.gui.evaluate.images", "ImagesPanel"),
    opened_by=("images_wanted", "images_picked", "slice_wanted"),
)
