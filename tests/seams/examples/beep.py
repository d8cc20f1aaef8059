"""A setting: whether a sound is played at the end of a run."""

from __future__ import annotations

from workbench.core.params import BoolParam
from workbench.settings.spec import SettingSpec

SPEC: SettingSpec[bool] = SettingSpec(
    order=50,
    param=BoolParam("beep", False, "Makes a sound when a run has ended."),
    note="The sound is that of the desktop.",
)
