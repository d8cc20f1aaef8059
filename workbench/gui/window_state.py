"""Where the window and its panels stood, and which projects were open last."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QByteArray, QObject, QSettings, Signal

from workbench.runs.home import data_home

LAYOUT_VERSION = 1
MAX_RECENT = 12


class WindowState(QObject):
    """A small file of its own: losing it loses no work, so settings stay apart from it."""

    recent_changed = Signal()

    def __init__(self, path: Path | None = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        chosen = path or data_home() / "window.ini"
        self._store = QSettings(str(chosen), QSettings.Format.IniFormat)

    def bytes(self, key: str) -> QByteArray:
        """A stored state, empty when there is none."""
        value = self._store.value(key)
        return value if isinstance(value, QByteArray) else QByteArray()

    def set_bytes(self, key: str, value: QByteArray) -> None:
        """Stores a state."""
        self._store.setValue(key, value)

    def forget_layouts(self) -> None:
        """Removes the stored places of all panels."""
        self._store.remove("layout")

    def recent(self) -> list[str]:
        """Project files, the last opened first; missing ones too (shown greyed)."""
        value = self._store.value("recent", [])
        paths = [value] if isinstance(value, str) else value
        return [str(path) for path in paths] if isinstance(paths, list) else []

    def add_recent(self, path: str) -> None:
        """Puts a project at the top."""
        whole = str(Path(path).absolute())
        others = [known for known in self.recent() if known != whole]
        self._store.setValue("recent", [whole, *others][:MAX_RECENT])
        self.recent_changed.emit()

    def clear_recent(self) -> None:
        """Forgets all recent projects."""
        self._store.setValue("recent", [])
        self.recent_changed.emit()
