"""Whether unsaved projects are offered after a crash."""

from __future__ import annotations

from workbench.core.params import BoolParam
from workbench.settings.spec import SettingSpec

SPEC: SettingSpec[bool] = SettingSpec(
    order=40,
    param=BoolParam(
        key="offers_recovery",
        title="Offer to recover unsaved projects",
        default=True,
        help="After a crash, offers to recover projects with unsaved changes.",
    ),
)
