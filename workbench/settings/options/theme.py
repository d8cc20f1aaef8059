"""Light or dark colors."""

from __future__ import annotations

from workbench.core.params import ChoiceParam
from workbench.settings.spec import SettingSpec

SPEC: SettingSpec[str] = SettingSpec(
    order=10,
    param=ChoiceParam(
        key="theme",
        title="Theme",
        default="system",
        choices=("system", "light", "dark"),
        titles={"system": "System", "light": "Light", "dark": "Dark"},
        help="System follows the setting of the desktop.",
    ),
)
