"""Settings files of earlier versions, brought up to date one version at a time.

Version 0 (drafts before the first release) had `dark`: true or false, and `recent`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from workbench.settings.schema import SETTINGS_VERSION

Plain = dict[str, Any]
Migration = Callable[[Plain], Plain]

MIGRATIONS: dict[int, Migration] = {}


def migrates(from_version: int) -> Callable[[Migration], Migration]:
    """Declares the function that brings a dict of `from_version` to the next version."""

    def declare(migration: Migration) -> Migration:
        MIGRATIONS[from_version] = migration
        return migration

    return declare


def migrate(plain: Plain, version: int) -> Plain:
    """Brings settings of an earlier `version` up to date; `plain` is not changed."""
    for step in range(version, SETTINGS_VERSION):
        plain = {**MIGRATIONS[step](plain), "version": step + 1}
    return plain


@migrates(0)
def _name_the_theme(plain: Plain) -> Plain:
    rest = dict(plain)
    if "dark" in rest:
        rest["theme"] = "dark" if rest.pop("dark") else "light"
    if "recent" in rest:
        rest["recent_files"] = rest.pop("recent")
    return rest
