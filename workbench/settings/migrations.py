"""Settings files of earlier versions.

Version 0 (drafts before the first release) had `dark`: true or false, and `recent`.
"""

from __future__ import annotations

from workbench.core.storage.migration_chain import MigrationChain, Plain
from workbench.settings.schema import SETTINGS_VERSION

SETTINGS_MIGRATIONS = MigrationChain(SETTINGS_VERSION)


@SETTINGS_MIGRATIONS.step(0)
def _name_the_theme(plain: Plain) -> Plain:
    rest = dict(plain)
    if "dark" in rest:
        rest["theme"] = "dark" if rest.pop("dark") else "light"
    if "recent" in rest:
        rest["recent_files"] = rest.pop("recent")
    return rest
