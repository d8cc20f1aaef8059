"""Where runs are kept."""

from workbench.core.params import PathParam
from workbench.settings.spec import SettingSpec

SPEC: SettingSpec[str] = SettingSpec(
    order=20,
    param=PathParam(
        key="runs_folder",
        title="Runs folder",
        default="",
        is_folder=True,
        help="Where runs are kept: the window looks there from its next start, commands at "
        "once. Left empty, they are kept with the application's data.",
    ),
    note="A new runs folder counts from the next start.",
)
