"""The settings while the application runs, and how they reach the disk. Qt-free.

Changes are written by a thread of the store's own, the latest state once: no window waits.
"""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from workbench.core.storage.foreign_file import open_foreign
from workbench.core.storage.json_file import MAX_CHARACTERS, JsonFault, MigrationChain, Plain, load
from workbench.core.storage.own_file import make_private
from workbench.core.storage.save import save_bytes, sweep_leftovers
from workbench.errors import ParamError, SaveError
from workbench.settings.options import all_settings
from workbench.settings.spec import SettingSpec

# settings file -------------------------------------------------------------------------------
# Settings <-> the text of `settings.json`, also of earlier versions. Reading never fails: what is
# wrong is reported.

# schema --------------------------------------------------------------------------------------
# The settings of the application: the values of `options/`, and the recent
# files. A project's own settings are in its project file, not here.

SETTINGS_VERSION = 1
MAX_RECENT_FILES = 12
RECENT_FILES = "recent_files"
"""The one field of the file that is no setting of the dialog."""

T = TypeVar("T")


def _defaults() -> dict[str, Any]:
    return {key: spec.param.default for key, spec in all_settings().items()}


@dataclass(frozen=True)
class Settings:
    """All settings.

    Attributes:
        values: The value of every setting, by key.
        recent_files: Paths of projects, the latest first, at most MAX_RECENT_FILES.
    """

    values: Mapping[str, Any] = field(default_factory=_defaults)
    recent_files: tuple[str, ...] = ()

    def get(self, spec: SettingSpec[T]) -> T:
        """The value of one setting."""
        value: T = self.values[spec.key]
        return value

    def changed(self, **values: Any) -> Settings:
        """These settings with other values, each in canonical form.

        Raises:
            ParamError: there is no such setting, or a value outside its bounds.
        """
        checked = {key: _check(key, value) for key, value in values.items()}
        recent = checked.pop(RECENT_FILES, self.recent_files)
        return replace(self, values={**self.values, **checked}, recent_files=recent)

    def plain(self) -> dict[str, Any]:
        """The fields of the settings file."""
        return {**self.values, RECENT_FILES: list(self.recent_files)}


def _check(key: str, value: Any) -> Any:
    if key == RECENT_FILES:
        return _check_recent(value)
    spec = all_settings().get(key)
    if spec is None:
        raise ParamError(f'There is no setting "{key}".', where=key, received=repr(value))
    return spec.param.check(value)


def _check_recent(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not all(isinstance(path, str) for path in value):
        raise ParamError(
            "The recent files are a list of paths.", where=RECENT_FILES, received=repr(value)
        )
    return tuple(dict.fromkeys(value))[:MAX_RECENT_FILES]


# settings file -------------------------------------------------------------------------------

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


# store ---------------------------------------------------------------------------------------


class SettingsStore:
    """The settings of one user.

    Args:
        folder: Where the file is kept; made when it is not there.

    Attributes:
        settings: The settings as they are now.
        path: The settings file.
        note: What went wrong with the file, for people; empty when nothing did. A file
            with faults is renamed aside before the first save, never overwritten.
    """

    def __init__(self, folder: str | Path) -> None:
        self.path = Path(folder) / FILE_NAME
        self._listeners: list[Callable[[Settings], None]] = []
        self._lock = threading.Lock()
        self._unsaved: Settings | None = None
        self._writer: threading.Thread | None = None
        self.note = ""
        self.settings = self._load()

    def change(self, **values: Any) -> None:
        """Changes some settings, calls the listeners and saves soon.

        Raises:
            ParamError: no such setting, or a value outside its bounds; nothing is changed.
        """
        settings = self.settings.changed(**values)
        if settings == self.settings:
            return
        self.settings = settings
        self._save_soon()
        for listener in list(self._listeners):
            listener(settings)

    def listen(self, listener: Callable[[Settings], None]) -> Callable[[], None]:
        """Calls `listener` after each change; returns the function that ends that."""
        self._listeners.append(listener)

        def stop() -> None:
            with contextlib.suppress(ValueError):
                self._listeners.remove(listener)

        return stop

    def add_recent(self, path: str | Path) -> None:
        """Puts a project at the top of the recent files."""
        whole = str(Path(path).absolute())
        self.change(recent_files=(whole, *self.settings.recent_files))

    def clear_recent(self) -> None:
        """Forgets all recent files."""
        self.change(recent_files=())

    def close(self) -> None:
        """Waits until the last change is on the disk."""
        if (writer := self._writer) is not None:
            writer.join()

    # the file ----------------------------------------------------------------------------

    def _load(self) -> Settings:
        sweep_leftovers(self.path.parent)
        try:
            text = file_text(self.path)
        except FileNotFoundError:
            return Settings()
        except OSError as error:
            self.note = f"Your settings could not be read ({error.strerror}); defaults are used."
            return Settings()
        settings, problem = parse_settings(text)
        if problem:
            aside = self._rename_aside()
            kept = f' The file was kept as "{aside}".' if aside else ""
            self.note = f"Some settings were reset to their defaults: {problem}.{kept}"
        return settings

    def _rename_aside(self) -> str:
        for number in range(1, 100):
            aside = self.path.with_name(f"settings.damaged-{number}.json")
            if not aside.exists():
                with contextlib.suppress(OSError):
                    self.path.rename(aside)
                    return aside.name
        return ""

    def _save_soon(self) -> None:
        with self._lock:
            self._unsaved = self.settings
            if self._writer is None:
                self._writer = threading.Thread(target=self._write_all, name="settings-writer")
                self._writer.start()

    def _write_all(self) -> None:
        """Runs in the writer thread until nothing is unsaved; the next change starts a new one."""
        while True:
            with self._lock:
                settings, self._unsaved = self._unsaved, None
                if settings is None:
                    self._writer = None
                    return
            try:
                make_private(self.path.parent)
                save_bytes(
                    self.path,
                    settings_text(settings).encode("utf-8", errors="replace"),
                    is_private=True,
                )
            except SaveError as error:
                self.note = str(error)
            except OSError as error:
                self.note = f"Your settings could not be saved: {error.strerror}."
