"""The last few models of a service worker, each reloaded when its files have changed."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar

from workbench.runs.folder import RunFolder
from workbench.runs.store.references import references_path

R = TypeVar("R")

CAPACITY = 3
"""Models kept: a person compares two or three runs, and each holds its memory."""


class RunnerCache(Generic[R]):
    """Models of a kind by path, the longest unused leaves first."""

    def __init__(self) -> None:
        self._cached: OrderedDict[str, tuple[tuple[int, ...], R]] = OrderedDict()

    def find(self, path: str) -> R | None:
        """The model at `path` if it is in memory and its files are still the same."""
        mark, runner = self._cached.get(path, (None, None))
        if runner is None or mark != _mark(Path(path)):
            return None
        self._cached.move_to_end(path)
        return runner

    def load(self, path: str, load: Callable[[str], R]) -> R:
        """Loads the model at `path`; raises what `load` raises."""
        mark = _mark(Path(path))
        self._cached.pop(path, None)
        runner = load(path)
        self._cached[path] = (mark, runner)
        while len(self._cached) > CAPACITY:
            self._cached.popitem(last=False)
        return runner


def _mark(path: Path) -> tuple[int, ...]:
    """Numbers that change with the files of a model; -1 where one is missing."""
    run = RunFolder(path)
    marks: list[int] = []
    of_run = run.card_path, run.weights_path, references_path(run)
    for file in of_run if path.is_dir() else (path,):
        try:
            status = file.stat()
        except OSError:  # loading it will say so in words
            marks.append(-1)
        else:
            marks += [status.st_mtime_ns, status.st_size, status.st_ino]
    return tuple(marks)
