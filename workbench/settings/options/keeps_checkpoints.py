"""Whether completed runs keep their last checkpoint."""

from __future__ import annotations

from workbench.core.params import BoolParam
from workbench.settings.spec import SettingSpec

SPEC: SettingSpec[bool] = SettingSpec(
    order=25,
    param=BoolParam(
        key="keeps_checkpoints",
        title="Keep the last checkpoint",
        default=True,
        help="A completed run keeps its last checkpoint, so that it can be trained longer. With "
        "most optimizers it takes two to three times the disk space of the weights.",
    ),
    note="A completed run can then be trained longer.",
)
