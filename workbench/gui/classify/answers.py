"""The classified pictures and the run that has answered: those of another are requested again."""

from __future__ import annotations

from pathlib import Path

from workbench.gui.classify.classified import ClassifiedPicture
from workbench.gui.classify.picture_strip import MAX_TILES


class Answers:
    """The files that were classified, the latest last."""

    def __init__(self) -> None:
        self._files: dict[str, None] = {}
        self._outdated: set[str] = set()
        self._asked_again: set[str] = set()
        self._put_away: list[str] = []
        self._shown = ""
        self._model: Path | None = None

    def add(self, file: str) -> bool:
        """A file has an answer of the present run; whether it replaces an earlier run's."""
        if file in self._asked_again:
            self._asked_again.discard(file)
            return True
        self._outdated.discard(file)
        self._files.pop(file, None)
        self._files[file] = None
        while len(self._files) > MAX_TILES:
            del self._files[next(iter(self._files))]
        return False

    def show(self, entry: ClassifiedPicture) -> None:
        """An answer is shown large."""
        self._shown = entry.answer.file

    def is_shown(self, file: str) -> bool:
        """Whether the answer to this file is shown large."""
        return file == self._shown

    def is_outdated(self, file: str) -> bool:
        """Whether the answer there is of an earlier run."""
        return file in self._outdated or file in self._asked_again

    def give_up(self) -> None:
        """What was requested again is not answered: it can be requested once more."""
        self._outdated |= self._asked_again
        self._asked_again = set()

    def put_away(self) -> None:
        """Shows nothing, as another project is opened, until this one is opened again, which
        classifies its pictures again.
        """
        self._put_away = [*self._put_away, *self._files][-MAX_TILES:]
        self._files, self._outdated, self._asked_again = {}, set(), set()

    def put_back(self, files: list[str]) -> None:
        """Files that were classified before the program was started: requested as those that were
        put away are.
        """
        new = [file for file in files if file not in self._files]
        self._put_away = [*new, *self._put_away]

    def take_model(self, model: Path | None) -> bool:
        """The run that answers from now on; whether earlier answers are of another."""
        before, self._model = self._model, model or self._model
        if model is None or before in (None, model):
            return False
        self._outdated, self._asked_again = set(self._files), set()
        return bool(self._files)

    def take_outdated(self) -> list[str]:
        """The files whose answers are of another run, to be classified again: first the one that
        is shown, then from the latest on; after those what was put away, the latest last.
        """
        files = [file for file in reversed(self._files) if file in self._outdated]
        files.sort(key=lambda file: file != self._shown)
        self._asked_again |= self._outdated
        self._outdated = set()
        again, self._put_away = [*files, *self._put_away], []
        return again
