"""Light or dark colours."""

from workbench.core.params import ChoiceParam
from workbench.settings.spec import SettingSpec

SPEC: SettingSpec[str] = SettingSpec(
    order=10,
    param=ChoiceParam(
        key="theme",
        title="Colours",
        default="system",
        choices=("system", "light", "dark"),
        titles={"system": "as the desktop", "light": "light", "dark": "dark"},
        help="Light or dark; as the desktop follows its setting.",
    ),
)
