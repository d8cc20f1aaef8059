"""How soon edits are kept for the case of a crash."""

from __future__ import annotations

from workbench.core.params import IntParam
from workbench.settings.spec import SettingSpec

SPEC: SettingSpec[int] = SettingSpec(
    order=45,
    param=IntParam(
        key="autosave_seconds",
        title="Autosave after",
        default=1,
        minimum=1,
        maximum=600,
        unit="s",
        help="Time from an edit to the copy that is offered after a crash. The project file itself "
        "changes only when you save.",
    ),
)
