"""Whether anything moves by itself."""

from __future__ import annotations

from workbench.core.params import BoolParam
from workbench.settings.spec import SettingSpec

SPEC: SettingSpec[bool] = SettingSpec(
    order=17,
    param=BoolParam(
        key="animates",
        title="Animate changes",
        default=True,
        help="Layers that make room for another one glide to their new places. Switch it off for "
        "reduced motion.",
    ),
)
