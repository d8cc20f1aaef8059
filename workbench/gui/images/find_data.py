"""Images that were moved: found by the user, or with a project that is opened or gets another
folder; then used by all runs that were trained on them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import shiboken6
from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from workbench.client.background import Background
from workbench.core.projects.project import Choice
from workbench.core.projects.project_file import moved_places
from workbench.document.project_document import ProjectDocument
from workbench.errors import DataNotFoundError, WorkbenchError
from workbench.gui.common.context import WindowContext
from workbench.gui.common.drops import file_source
from workbench.gui.kit.buttons import TextButton
from workbench.gui.kit.dialogs import ask_choice, ask_file, ask_folder, show_error
from workbench.moving.found_data import FoundData, look_at
from workbench.runs.moved_data import keep_place_of, place_now

T = TypeVar("T")


class FindDataButton(TextButton):
    """Lets the user find the images of an error, where those were moved; hidden otherwise.

    Args:
        context: The document, which uses the place, too, where it has the same path.
        background: Where images are compared.

    Signals:
        found: They are used from where they are now.
        said: What was found, in words.
    """

    found = Signal()
    said = Signal(str)

    def __init__(self, context: WindowContext, background: Background) -> None:
        super().__init__("Find the folder…", role="primary")
        self._document, self._background = context.document, background
        self._old = ""
        self.hide()
        self.clicked.connect(self._on_clicked)

    def show_for(self, error: WorkbenchError | None) -> None:
        """Offers it for an error; not for one of another kind, or None."""
        self._old = error.where if isinstance(error, DataNotFoundError) else ""
        self.setText("Find the file…" if self._is_file else "Find the folder…")
        self.setVisible(bool(self._old))

    @property
    def _is_file(self) -> bool:
        return file_source(Path(self._old).name) is not None

    def _on_clicked(self) -> None:
        old = Path(self._old)
        self._run(lambda: _nearest_folder(old), lambda start: self._ask(old, start))

    def _ask(self, old: Path, start: str) -> None:
        title = f"Where is “{old.name}” now?"
        if self._is_file:
            new = ask_file(self, title, "All files (*)", kind="data", start=start)
        else:
            new = ask_folder(self, title, kind="data", start=start)
        if new:
            self.take(new)

    def take(self, new: str) -> None:
        """Compares what is at a path with what the runs know, and uses it."""
        old = self._old
        self.setEnabled(False)
        self.said.emit("Comparing the images…")
        self._run(lambda: look_at(old, new), self._on_compared)

    def _run(self, work: Callable[[], T], then: Callable[[T], None]) -> None:
        """Works in the thread; nothing follows where the page with the button is gone by then."""

        def if_there(call: Callable[[Any], None]) -> Callable[[Any], None]:
            return lambda result: call(result) if shiboken6.isValid(self) else None

        self._background.run(work, if_there(then), if_there(self._on_failed))

    def _on_compared(self, found: FoundData) -> None:
        self.setEnabled(True)
        if not found.is_same:
            what = f"Use “{Path(found.new).name}” in place of “{Path(found.old).name}”?"
            if ask_choice(self, what, found.words(), ("Use it", "Cancel"), default=1) != 0:
                self.said.emit("")
                return
        self._run(lambda: keep_place_of(found.old, found.new), lambda _done: self._on_kept(found))

    def _on_kept(self, found: FoundData) -> None:
        self.show_for(None)
        use_in(self._document, found.old, found.new)
        self.said.emit(found.words())
        self.found.emit()

    def _on_failed(self, error: WorkbenchError) -> None:
        self.setEnabled(True)
        self.said.emit("")
        show_error(self, error)


def _nearest_folder(path: Path) -> str:
    """The folder around a path that is still there; "" for none. It may be on a slow disk."""
    return next((str(each) for each in path.parents if each.is_dir()), "")


def use_in(document: ProjectDocument, old: str, new: str) -> None:
    """Lets a project use a path in place of another one, where it has that."""
    choice = document.project.dataset
    params = {key: _with(value, old, new) for key, value in choice.params.items()}
    if params != choice.params:
        document.set_dataset(replace(choice, params=params))


def _with(value: Any, old: str, new: str) -> Any:
    if isinstance(value, tuple):
        return tuple(_with(each, old, new) for each in value)
    is_it = isinstance(value, str) and value and os.path.abspath(value) == old  # noqa: PTH100 - text
    return new if is_it else value


class MovedData(QObject):
    """Records the new place of images that the project has found: by another folder that the user
    has chosen, or beside its file. Only where their content is that of the runs.

    Signals:
        said: That runs use it.
    """

    said = Signal(str)

    def __init__(self, context: WindowContext, parent: QWidget) -> None:
        super().__init__(parent)
        self._document = context.document
        self._background = Background(self, max_threads=1)
        self._before: tuple[str, Choice] = ("", Choice(""))
        self._document.dataset_changed.connect(self._on_changed)
        self._document.project_replaced.connect(self._on_replaced)
        self._on_replaced()

    def close(self) -> None:
        """Ends the comparison in the background."""
        self._background.close()

    def _on_replaced(self) -> None:
        project = self._document.project
        self._before = self._document.project_id, project.dataset
        places = moved_places(project)
        if places:
            self.said.emit(f"The images are used from {', '.join(places.values())}.")
        self._look(places)

    def _on_changed(self) -> None:
        identity, choice = self._document.project_id, self._document.project.dataset
        before, self._before = self._before, (identity, choice)
        if before[0] == identity and before[1].key == choice.key:
            self._look(_changed(before[1].params, choice.params))

    def _look(self, places: Mapping[str, str]) -> None:
        if places:
            self._background.run(lambda: _kept(places), self._say)

    def _say(self, kept: list[FoundData]) -> None:
        num_runs = sum(found.num_runs for found in kept)
        if num_runs:
            words = " ".join(found.words() for found in kept)
            self.said.emit(f"{words} Earlier runs use them from there, too.")


def _changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, str]:
    """The paths that were replaced by others, one for one."""
    pairs = [(before.get(key), value) for key, value in after.items()]
    return {
        old: new
        for old, new in pairs
        if isinstance(old, str) and isinstance(new, str) and old != new and os.path.isabs(old)  # noqa: PTH117
    }


def _kept(places: Mapping[str, str]) -> list[FoundData]:
    """Records those where nothing is any more at the old path, and the same images at the new; but
    not what is recorded.
    """
    kept: list[FoundData] = []
    for old, new in places.items():
        if Path(old).exists() or not Path(new).exists() or place_now(old) == new:
            continue
        found = look_at(old, new)
        if found.is_same:
            keep_place_of(found.old, found.new)
            kept.append(found)
    return kept
