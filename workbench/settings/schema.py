"""The settings of the application. One typed schema: file, dialog and store
read it. A project's own settings are in its project file, not here.
"""

from __future__ import annotations

import msgspec

from workbench.core.params import BoolParam, ChoiceParam, Param, PathParam

SETTINGS_VERSION = 1
MAX_RECENT_FILES = 12

SETTINGS_PARAMS: tuple[Param, ...] = (
    ChoiceParam(
        key="theme",
        title="Theme",
        default="system",
        choices=("system", "light", "dark"),
        titles={"system": "System", "light": "Light", "dark": "Dark"},
        help="System follows the setting of the desktop.",
    ),
    PathParam(
        key="runs_folder",
        title="Runs folder",
        default="",
        is_folder=True,
        help="Where runs are stored. The window uses a new folder after restart, commands at "
        "once. If empty, runs are stored with the application's data.",
    ),
    BoolParam(
        key="writes_tensorboard",
        title="TensorBoard files",
        default=True,
        help="Also writes each run's curves for TensorBoard, into the run folder.",
    ),
    BoolParam(
        key="offers_recovery",
        title="Offer to restore unsaved projects",
        default=True,
        help="After a crash, offers to restore projects with unsaved changes.",
    ),
)
"""The settings that the dialog shows, in its order; keys are fields of Settings."""


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """All settings.

    Attributes:
        theme, runs_folder, writes_tensorboard, offers_recovery: see SETTINGS_PARAMS.
        recent_files: Paths of projects, the latest first, at most MAX_RECENT_FILES.
    """

    theme: str = "system"
    runs_folder: str = ""
    writes_tensorboard: bool = True
    offers_recovery: bool = True
    recent_files: tuple[str, ...] = ()
