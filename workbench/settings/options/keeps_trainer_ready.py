"""Whether a trainer is kept ready while the window is open."""

from __future__ import annotations

from workbench.core.params import BoolParam
from workbench.settings.spec import SettingSpec

SPEC: SettingSpec[bool] = SettingSpec(
    order=27,
    param=BoolParam(
        key="keeps_trainer_ready",
        title="Keep a trainer ready",
        default=True,
        help="While a project is open, TensorFlow is loaded and the network benchmarked "
        "beforehand, so that training begins seconds sooner. Takes about 600 MB, which are freed "
        "when memory is short.",
    ),
    note="Training begins seconds sooner; TensorFlow takes 600 MB while a project is open.",
)
