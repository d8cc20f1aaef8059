"""Settings <-> the text of `settings.json`, also of earlier versions. Reading never fails: what is
wrong is reported.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from workbench.core.storage.foreign_file import open_foreign
from workbench.core.storage.migration_chain import MigrationChain, Plain
from workbench.core.storage.strict_json import MAX_CHARACTERS, JsonFault, load
from workbench.errors import ParamError
from workbench.settings.schema import SETTINGS_VERSION, Settings

FILE_NAME = "settings.json"

_MIGRATIONS = MigrationChain(SETTINGS_VERSION)


@_MIGRATIONS.step(0)
def _name_the_theme(plain: Plain) -> Plain:
    """Version 0 (drafts before the first release) had `dark`: true or false, and `recent`."""
    rest = dict(plain)
    if "dark" in rest:
        rest["theme"] = "dark" if rest.pop("dark") else "light"
    if "recent" in rest:
        rest["recent_files"] = rest.pop("recent")
    return rest


def settings_text(settings: Settings) -> str:
    """The file text of settings."""
    plain = {"version": SETTINGS_VERSION, **settings.plain()}
    return json.dumps(plain, ensure_ascii=False, indent=2) + "\n"


def read_settings(folder: Path) -> Settings:
    """The settings in a folder, for who only looks: what cannot be read is at its default."""
    try:
        return parse_settings(file_text(folder / FILE_NAME))[0]
    except OSError:
        return Settings()


def file_text(path: Path) -> str:
    """The text of a settings file, with one character too many where it is too long.

    Raises:
        OSError: it is not there, or cannot be read.
    """
    with open_foreign(path) as file:
        return file.read(MAX_CHARACTERS + 1).decode("utf-8", errors="replace")


def parse_settings(text: str) -> tuple[Settings, str]:
    """Settings of a file's text, and what was wrong with it in words ("" when nothing).

    A wrong field gets its default, the others are kept; unknown ones are left out.
    """
    try:
        plain = load(text)
    except JsonFault as fault:
        return Settings(), f"the file is damaged ({fault})"
    version = plain.get("version") if isinstance(plain, dict) else None
    if not isinstance(version, int) or isinstance(version, bool) or version < 0:
        return Settings(), "the file contains no settings"
    if version > SETTINGS_VERSION:
        return Settings(), "they were saved by a newer version of Workbench"
    return _checked(_MIGRATIONS.migrate(plain, version))


def _checked(plain: dict[str, Any]) -> tuple[Settings, str]:
    settings = Settings()
    wrong: list[str] = []
    for key in [key for key in settings.plain() if key in plain]:
        try:
            settings = settings.changed(**{key: plain[key]})
        except ParamError:
            wrong.append(key)
    return settings, f"invalid values for {', '.join(wrong)}" if wrong else ""
