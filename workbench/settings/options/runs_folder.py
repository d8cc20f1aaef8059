"""Setting: the folder of runs."""

from __future__ import annotations

from workbench.core.params import PathParam
from workbench.settings.spec import SettingSpec

SPEC: SettingSpec[str] = SettingSpec(
    order=20,
    param=PathParam(
        key="runs_folder",
        title="Runs folder",
        default="",
        is_folder=True,
        help="Where runs are stored. The window uses a new folder after restart, commands at "
        "once. If empty, runs are stored with the application's data.",
    ),
    needs_restart=True,
)
