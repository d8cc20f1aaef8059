"""What each layer of the network gives for the picture."""

from __future__ import annotations

from workbench.gui.common.view_spec import PanelSpec, imported

SPEC = PanelSpec(
    key="classify_feature_maps",
    view="classify",
    title="Feature maps",
    area="right",
    order=50,
    make=imported("workbench.gui.classify.feature_maps", "FeatureMapsPanel"),
    opened_by=("layer_chosen",),
)
