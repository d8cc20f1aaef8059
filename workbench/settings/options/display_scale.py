"""How large text and controls are."""

from __future__ import annotations

from workbench.core.params import ChoiceParam
from workbench.settings.spec import SettingSpec

SCALE_VARIABLE = "QT_SCALE_FACTOR"
"""Environment variable with a factor that Qt scales by, which counts more than the setting."""

SCALES = ("100", "110", "125", "150", "175", "200")

SPEC: SettingSpec[str] = SettingSpec(
    order=15,
    param=ChoiceParam(
        key="display_scale",
        title="Text size",
        default="100",
        choices=SCALES,
        titles={scale: f"{scale}%" for scale in SCALES},
        help="Size of text, icons and controls, on top of what the desktop sets.",
    ),
    needs_restart=True,
)
