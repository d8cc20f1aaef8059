"""Whether trainers write files for TensorBoard."""

from __future__ import annotations

from workbench.core.params import BoolParam
from workbench.settings.spec import SettingSpec

SPEC: SettingSpec[bool] = SettingSpec(
    order=30,
    param=BoolParam(
        key="writes_tensorboard",
        title="Write TensorBoard files",
        default=True,
        help="Also writes each run's curves for TensorBoard, into the run folder.",
    ),
)
