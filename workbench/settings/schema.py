"""What the application remembers about its user. One typed schema: file, dialog and store
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
        title="Colours",
        default="system",
        choices=("system", "light", "dark"),
        titles={"system": "as the desktop", "light": "light", "dark": "dark"},
        help="Light or dark; as the desktop follows its setting.",
    ),
    BoolParam(
        key="reduced_motion",
        title="Reduced motion",
        default=False,
        help="Views change at once, without sliding or fading.",
    ),
    PathParam(
        key="runs_folder",
        title="Runs folder",
        default="",
        is_folder=True,
        help="Where new runs are kept. Left empty, they are kept with the application's data.",
    ),
    BoolParam(
        key="offers_recovery",
        title="Offer recovery",
        default=True,
        help="After a crash, offers the projects that were not saved.",
    ),
)
"""The settings that the dialog shows, in its order; keys are fields of Settings."""


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """All settings.

    Attributes:
        theme, reduced_motion, runs_folder, offers_recovery: see SETTINGS_PARAMS.
        recent_files: Paths of projects, the latest first, at most MAX_RECENT_FILES.
        last_folders: Folder last used, by purpose: "open", "pictures", "export", ...
        window_geometry, window_state: What Qt gave, in base64; empty at first.
        view: Key of the view last shown.
    """

    theme: str = "system"
    reduced_motion: bool = False
    runs_folder: str = ""
    offers_recovery: bool = True
    recent_files: tuple[str, ...] = ()
    last_folders: dict[str, str] = {}
    window_geometry: str = ""
    window_state: str = ""
    view: str = ""
