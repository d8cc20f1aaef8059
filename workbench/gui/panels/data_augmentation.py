"""What augmentation makes of the images."""

from __future__ import annotations

from workbench.gui.common.view_spec import PanelSpec, imported

SPEC = PanelSpec(
    key="data_augmentation",
    view="data",
    title="Augmentation",
    area="left",
    order=30,
    make=imported("workbench.gui.data.split", "DataAugmentationPanel"),
)
