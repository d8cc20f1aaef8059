"""The button of the data edits' named versions: save one, go back to one, delete one."""

from __future__ import annotations

from functools import partial

from PySide6.QtWidgets import QMenu

from workbench.core.projects.data_versions import (
    MAX_NAME,
    MAX_VERSIONS,
    DataVersion,
    difference_words,
    edits_of_version,
    is_name,
    version_named,
    with_version,
)
from workbench.document.project_document import ProjectDocument
from workbench.gui.kit.buttons import TextButton
from workbench.gui.kit.labels import plain_tip
from workbench.gui.kit.messages import ask_choice, ask_text

_TIP = (
    "Keeps what was edited about the images by a name, such as “before relabeling”, to go back to. "
    "Versions are in the project file."
)
_TITLE = "Save version of the data edits"
_GONE = "The data edits of now stay as they are. Undo does not bring a version back."


class VersionsButton(TextButton):
    """Opens a menu that is made when it is opened: each version with what differs from now."""

    def __init__(self, document: ProjectDocument) -> None:
        super().__init__("Versions")
        self._document = document
        self.setToolTip(plain_tip(_TIP))
        self.menu_ = QMenu(self)
        self.menu_.setToolTipsVisible(True)
        self.menu_.aboutToShow.connect(self.fill)
        self.setMenu(self.menu_)

    def fill(self) -> None:
        """Lists the versions as they are now, the newest first."""
        self.menu_.clear()
        versions = self._document.project.data_versions
        save = self.menu_.addAction("Save version…", self.ask_name)
        save.setEnabled(len(versions) < MAX_VERSIONS)
        if versions:
            self.menu_.addSeparator()
        for version in reversed(versions):
            self._add(version)

    def _add(self, version: DataVersion) -> None:
        now = self._document.project.edits
        differs = difference_words(version.edits, now)
        words = f"{version.name}, {version.date[:10]}: " + (
            f"different: {differs}" if differs else "as now"
        )
        entry = self.menu_.addMenu(words.replace("&", "&&"))
        back = entry.addAction("Go back to this version", partial(self.use, version.name))
        back.setEnabled(bool(differs))
        entry.addAction("Delete version", partial(self.delete, version.name))

    def ask_name(self) -> None:
        """Asks for the name of a version, and saves it."""
        name = (ask_text(self.window(), _TITLE, "Name:") or "").strip()[:MAX_NAME]
        if is_name(name):
            self.save(name)

    def save(self, name: str) -> None:
        """Keeps the present edits by a name."""
        project = self._document.project
        versions = with_version(project.data_versions, name, project.edits)
        self._document.set_data_versions(versions)

    def use(self, name: str) -> None:
        """Goes back to the edits of a version; one step of Undo."""
        project = self._document.project
        version = version_named(project.data_versions, name)
        if version is not None:
            edits = edits_of_version(version, project.edits)
            self._document.set_edits(edits, f"Go back to version “{name}”")

    def delete(self, name: str) -> None:
        """Forgets a version, once that is confirmed: Undo does not bring it back."""
        choices = ("Delete version", "Cancel")
        if ask_choice(self.window(), f"Delete version “{name}”?", _GONE, choices, default=1) != 0:
            return
        versions = self._document.project.data_versions
        others = tuple(each for each in versions if each.name != name)
        self._document.set_data_versions(others)
