"""The settings while the application runs, and how they reach the disk. Qt-free.

Changes are written by a thread of the store's own, the latest state once: no window waits.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from workbench.core.storage.own_file import make_private
from workbench.core.storage.save import save_bytes, sweep_leftovers
from workbench.errors import SaveError
from workbench.settings.settings_file import (
    FILE_NAME,
    Settings,
    file_text,
    parse_settings,
    settings_text,
)


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
