"""The pictures that were classified last, kept over restarts: their paths, in a short file of the
user's data. The pictures stay where they are; one that is gone is shown as unreadable.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from workbench.client.background import Background
from workbench.core.storage.json_file import read_json, save_json
from workbench.runs.home import data_home

MOST_PICTURES = 12
"""Most pictures that are kept for a project: so many are classified again within half a second."""

_MOST_PROJECTS = 50
_NAME = "recent_predictions.json"


class _Kept(msgspec.Struct):
    """Project id -> its pictures with their labels, oldest first; the latest project last."""

    projects: dict[str, list[tuple[str, str]]] = {}


class RecentPictures:
    """Reads and writes them in another thread, one after the other.

    Args:
        background: That thread.
    """

    def __init__(self, background: Background) -> None:
        self._background = background
        self._path = data_home() / _NAME
        self._passing: set[str] = set()

    def leave_out(self, file: str) -> None:
        """A file that lasts no longer than the window is not kept."""
        self._passing.add(file)

    def add(self, project: str, file: str, truth: str) -> None:
        """Keeps an answered picture of a project; projects without an identity keep none."""
        if project and file not in self._passing:
            # Without them nothing is lost but convenience: a full disk is reported elsewhere.
            self._background.run(lambda: self._add(project, file, truth), lambda _done: None)

    def _add(self, project: str, file: str, truth: str) -> None:
        kept = read_json(self._path, _Kept) or _Kept()
        others = [each for each in kept.projects.pop(project, []) if each[0] != file]
        kept.projects[project] = [*others, (file, truth)][-MOST_PICTURES:]
        for old in list(kept.projects)[:-_MOST_PROJECTS]:
            del kept.projects[old]
        save_json(self._path, kept, is_private=True)

    def read(self, project: str, then: Callable[[list[tuple[str, str]]], None]) -> None:
        """Calls `then` with the pictures of a project and their labels, oldest first."""

        def work() -> list[tuple[str, str]]:
            kept = read_json(self._path, _Kept) or _Kept()
            return kept.projects.get(project, [])

        self._background.run(work, then)
