"""What every view is handed: no view reaches for a global."""

from __future__ import annotations

import stat
from dataclasses import dataclass
from pathlib import Path

import msgspec
from PySide6.QtCore import QByteArray, QObject, QSettings, QTemporaryDir, Signal

from workbench.client.run_library import RunLibrary
from workbench.client.service_process import ServiceProcess
from workbench.core.registry import Registry
from workbench.core.specs import DatasetSpec, LayerSpec, TargetSpec
from workbench.core.storage.foreign_file import SMALL_BYTES
from workbench.core.storage.json_file import DAMAGED
from workbench.document.project_document import ProjectDocument
from workbench.gui.common.next_run import RunEstimator
from workbench.gui.common.weights import WeightsLoader
from workbench.gui.kit.theme import Theme
from workbench.settings.store import SettingsStore

# open findings -------------------------------------------------------------------------------
# How many findings of the data check are open, and the way to them from anywhere in the window.


class OpenFindings(QObject):
    """The findings about the open project's images that nothing was done about yet.

    Signals:
        changed(): There are more or fewer.
        wanted(): They are to be shown.

    Attributes:
        number: How many; 0 also while the images are not checked.
    """

    changed = Signal()
    wanted = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.number = 0

    def set_number(self, number: int) -> None:
        """Sets the number of open findings."""
        if number != self.number:
            self.number = number
            self.changed.emit()


# window state --------------------------------------------------------------------------------
# Stored state: places of the window and its panels, the last projects, and their models.

LAYOUT_VERSION = 1

_MOST_PROJECTS = 50
"""Projects whose models are kept."""


def _may_be_qts(path: Path) -> bool:
    """Qt would write through a link, wait for ever at a pipe, and read a file of any length."""
    try:
        info = path.lstat()
    except OSError:
        return True  # it is made
    return stat.S_ISREG(info.st_mode) and info.st_size <= SMALL_BYTES


class KeptModel(msgspec.Struct, frozen=True, array_like=True):
    """The model that a view of a project uses.

    Attributes:
        run: Its folder.
        latest: That of the model that would have been used unasked then; "" for none.
    """

    run: str
    latest: str = ""


class WindowState(QObject):
    """Places of panels are in a small file of their own: losing it loses no setting.

    Args:
        settings: Keeps the recent projects.
        path: The file of places; where anything else than a file of ordinary length has its name,
            places are kept until the end.
    """

    recent_changed = Signal()

    def __init__(self, settings: SettingsStore, path: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._settings = settings
        self._folder: QTemporaryDir | None = None
        if not _may_be_qts(path):
            self._folder = QTemporaryDir()
            path = Path(self._folder.filePath(path.name))
        self._store = QSettings(str(path), QSettings.Format.IniFormat)

    def bytes(self, key: str) -> QByteArray:
        """A stored place, empty when there is none."""
        value = self._store.value(key)
        return value if isinstance(value, QByteArray) else QByteArray()

    def set_bytes(self, key: str, value: QByteArray) -> None:
        """Stores a place."""
        self._store.setValue(key, value)

    def forget_layouts(self) -> None:
        """Removes the stored places of all panels."""
        self._store.remove("layout")

    def folder(self, kind: str) -> str:
        """Folder in which a dialog of a kind was used last; "" where it never was."""
        return str(self._store.value(f"folder/{kind}") or "")

    def set_folder(self, kind: str, folder: str) -> None:
        """Stores where a dialog was used."""
        self._store.setValue(f"folder/{kind}", folder)

    def model(self, view: str, project: str) -> KeptModel | None:
        """The model that a view of a project has used last; None where none is known."""
        return self._models(view).get(project)

    def keep_model(self, view: str, project: str, model: KeptModel) -> None:
        """Stores which model a view of a project uses."""
        models = self._models(view)
        models.pop(project, None)
        models[project] = model
        kept = dict(list(models.items())[-_MOST_PROJECTS:])
        self._store.setValue(f"models/{view}", msgspec.json.encode(kept).decode())

    def _models(self, view: str) -> dict[str, KeptModel]:
        text = str(self._store.value(f"models/{view}") or "{}")
        try:
            return msgspec.json.decode(text, type=dict[str, KeptModel])
        except DAMAGED:
            return {}

    def recent(self) -> list[str]:
        """Project files, the last opened first; missing ones too (shown grayed)."""
        return list(self._settings.settings.recent_files)

    def add_recent(self, path: str) -> None:
        """Puts a project at the top."""
        self._settings.add_recent(path)
        self.recent_changed.emit()

    def clear_recent(self) -> None:
        """Forgets all recent projects."""
        self._settings.clear_recent()
        self.recent_changed.emit()


# context -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class WindowContext:
    """The parts of the application that views work with.

    Attributes:
        document: The project being edited.
        library: The runs on this computer, and the ones being followed.
        service: The worker that classifies, evaluates and describes data.
        measurer: Another such worker, for what takes long: finding rates and batch sizes.
        weights: Makes runs of weights files.
        estimator: What the next run of the document will take.
        findings: How many findings of the data check are open.
        theme: Colors, icons, fonts; emits a signal when they change.
        settings: What the user chose for the application.
    """

    document: ProjectDocument
    library: RunLibrary
    service: ServiceProcess
    measurer: ServiceProcess
    weights: WeightsLoader
    estimator: RunEstimator
    findings: OpenFindings
    theme: Theme
    settings: SettingsStore
    layers: Registry[LayerSpec]
    datasets: Registry[DatasetSpec]
    targets: Registry[TargetSpec]
