"""Whether unsaved projects are offered after a crash."""

from workbench.core.params import BoolParam
from workbench.settings.spec import SettingSpec

SPEC: SettingSpec[bool] = SettingSpec(
    order=40,
    param=BoolParam(
        key="offers_recovery",
        title="Offer recovery",
        default=True,
        help="After a crash, offers the projects that were not saved.",
    ),
)
