"""Two windows edit and save one file in random turns: no change is lost without a question.

`python -m tests.proofs.two_windows --interleavings 200 [--seed N]`. Two real windows (offscreen,
processes of their own) edit, save at once and in turn, come to the front, reload, and answer
questions at random; another program changes, deletes and touches the file. After each step the
files are read and compared with what was in them, what was saved and what was asked. Ends with 1
when a change is gone without a question, or a window that came to the front shows no notice.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.proofs._piped_window import WindowProcess
from workbench.core.projects.project_file import read_project, save_project
from workbench.templates import find_template

_CHANGED = "was changed by another program"
_ANSWERS = ("Overwrite", "Save as…", "Reload", "Compare…", "Cancel", "Save", "Discard", "Revert")
_DOINGS = ("edit", "save", "both save", "activate", "press", "revert", "program", "open again")
_WEIGHTS = (8, 5, 5, 5, 2, 1, 2, 1)


@dataclass
class Tally:
    """What was done and seen."""

    interleavings: int = 0
    steps: int = 0
    changes: int = 0
    saves: int = 0
    at_once: int = 0
    questions: int = 0
    overwritten: int = 0
    notices: int = 0
    problems: list[str] = field(default_factory=list)


def names_in(path: Path) -> set[str]:
    """The changes that a project file holds."""
    if not path.is_file():
        return set()
    return {n.name for n in read_project(path).graph.nodes.values() if n.name.startswith("change_")}


class Interleaving:
    """One file, two windows, some steps."""

    def __init__(
        self, folder: Path, windows: list[WindowProcess], rng: random.Random, tally: Tally
    ) -> None:
        self.path = folder / f"p{tally.interleavings}.workbench"
        self.folder = folder
        self.windows = windows
        self.rng = rng
        self.tally = tally
        self.ever_saved: set[str] = set()
        self.closed: set[int] = set()
        self.trace: list[str] = []
        save_project(find_template("lenet5").project, self.path)
        for window in windows:
            window.ask("open", str(self.path), answers=["Discard"])

    def run(self, steps: int) -> None:
        """Random steps, each checked."""
        for _ in range(steps):
            self._meet_again()
            (doing,) = self.rng.choices(_DOINGS, _WEIGHTS)
            files = self._files()
            held = [self._changes(window) for window in self.windows]
            acting = getattr(self, f"_{doing.replace(' ', '_')}")()
            self.tally.steps += 1
            self.tally.questions += sum(len(self.windows[i].last["questions"]) for i in acting)
            if doing != "program":
                self._check_files(files, acting)
                self._check_windows(held, acting)
            self.ever_saved |= set().union(*self._files().values())

    def _meet_again(self) -> None:
        """A window that has saved elsewhere mostly comes back to the file of both."""
        for number, window in enumerate(self.windows):
            if window.last["path"] != str(self.path) and self.rng.random() < 0.7:
                self._ask(number, "open", str(self.path))
                self.closed.discard(number)

    # what is done: each returns the numbers of the windows that acted ----------------------

    def _edit(self) -> list[int]:
        number = self.rng.randrange(2)
        self._ask(number, "edit", self._new_name())
        return [number]

    def _save(self) -> list[int]:
        number = self.rng.randrange(2)
        self.tally.saves += self._ask(number, "save")["done"]
        return [number]

    def _both_save(self) -> list[int]:
        """Both have unsaved changes, and save at the same moment."""
        for number in (0, 1):
            self._ask(number, "edit", self._new_name())
        for number in (0, 1):
            self._order(number, "save")
        self.tally.saves += sum(self._reply(number)["done"] for number in (0, 1))
        self.tally.at_once += 1
        return [0, 1]

    def _activate(self) -> list[int]:
        number = self.rng.randrange(2)
        reply = self._ask(number, "activate")
        path = Path(reply["path"])
        data = path.read_bytes() if path.is_file() else b""
        if hashlib.sha256(data).hexdigest() == reply["digest"]:
            self.closed.discard(number)
        elif reply["bar"]:
            self.tally.notices += 1
            self.closed.discard(number)
        elif number not in self.closed:
            self._fail("a window came to the front and shows no notice", [number])
        return [number]

    def _press(self) -> list[int]:
        number = self.rng.randrange(2)
        words = self.rng.choice(("Reload", "Save as…", "Overwrite", "Save", "Close"))
        if self._ask(number, "press", words)["done"] and words == "Close":
            self.closed.add(number)
        return [number]

    def _revert(self) -> list[int]:
        number = self.rng.randrange(2)
        self._ask(number, "revert")
        return [number]

    def _open_again(self) -> list[int]:
        number = self.rng.randrange(2)
        self._ask(number, "open", str(self.path))
        self.closed.discard(number)
        return [number]

    def _program(self) -> list[int]:
        """Another program changes, touches or deletes the file, not at the moment of a save."""
        act = self.rng.choice(("change", "change", "touch", "delete"))
        self.trace.append(f"program: {act}")
        self.closed.clear()
        if act == "delete":
            self.path.unlink(missing_ok=True)
        elif self.path.is_file():
            plain = json.loads(self.path.read_text(encoding="utf-8"))
            if act == "change":
                name = self._new_name()
                node = {"id": name, "kind": "dropout", "name": name, "params": {}}
                plain["graph"]["nodes"].append(node)
                self.path.write_text(json.dumps(plain), encoding="utf-8")
            else:
                os.utime(self.path)
        return []

    # what is checked --------------------------------------------------------------------------

    def _check_files(self, before: dict[Path, set[str]], acting: list[int]) -> None:
        """Changes that were in a file, or were saved just now, are there, or it was asked."""
        saved: dict[Path, set[str]] = {}
        for number in acting:
            last = self.windows[number].last
            if last["done"] and not last["is_dirty"]:
                saved.setdefault(Path(last["path"]), set()).update(self._changes_of(last))
        self.ever_saved |= set().union(*saved.values())  # also what was replaced at once, as asked
        for path, now in self._files().items():
            lost = (before.get(path, set()) | saved.get(path, set())) - now
            if not lost:
                continue
            if any(self._overwrote(self.windows[number].last, lost) for number in acting):
                self.tally.overwritten += len(lost)
            else:
                self._fail(f"{sorted(lost)} gone from {path.name}", acting)

    def _overwrote(self, reply: dict[str, Any], lost: set[str]) -> bool:
        """A window without these changes has asked, and was answered Overwrite."""
        asked = any(
            _CHANGED in words and answer == "Overwrite" for words, answer in reply["questions"]
        )
        return asked and not lost & self._changes_of(reply)

    def _check_windows(self, held: list[set[str]], acting: list[int]) -> None:
        """Changes that were never saved go from a window only after a question."""
        saved = self.ever_saved.union(*self._files().values())
        for number in acting:
            lost = held[number] - self._changes(self.windows[number]) - saved
            if lost and not self.windows[number].last["questions"]:
                self._fail(f"{sorted(lost)} gone from window {number}", acting)

    def _fail(self, what: str, acting: list[int]) -> None:
        where = f"interleaving {self.tally.interleavings}, windows {acting}"
        self.tally.problems.append(f"{where}: {what}\n    " + "\n    ".join(self.trace[-12:]))

    # small things -----------------------------------------------------------------------------

    def _ask(self, number: int, do: str, what: str = "") -> dict[str, Any]:
        self._order(number, do, what)
        return self._reply(number)

    def _order(self, number: int, do: str, what: str = "") -> None:
        answers = self.rng.choices(_ANSWERS, k=6)
        new = str(self.folder / f"new{self.rng.getrandbits(48):x}.workbench")
        self.windows[number].order(do, what, answers=answers, new_path=new)
        self.trace.append(f"window {number}: {do} {what}")

    def _reply(self, number: int) -> dict[str, Any]:
        reply = self.windows[number].reply()
        self.trace.append(f"window {number} done: {reply['done']} {reply['questions']}")
        return reply

    def _new_name(self) -> str:
        self.tally.changes += 1
        return f"change_{self.tally.changes}"

    def _files(self) -> dict[Path, set[str]]:
        return {path: names_in(path) for path in self.folder.glob("*.workbench")}

    def _changes(self, window: WindowProcess) -> set[str]:
        return self._changes_of(window.last)

    @staticmethod
    def _changes_of(reply: dict[str, Any]) -> set[str]:
        return {name for name in reply["names"] if name.startswith("change_")}


def prove(folder: Path, *, interleavings: int, seed: int) -> Tally:
    """Two windows through all interleavings, each with a folder and a file of its own."""
    rng, tally = random.Random(seed), Tally()
    windows = [WindowProcess(folder / "home") for _ in range(2)]
    try:
        for number in range(interleavings):
            own = folder / f"{number}"
            own.mkdir()
            Interleaving(own, windows, rng, tally).run(rng.randrange(8, 16))
            tally.interleavings += 1
    finally:
        for window in windows:
            window.close()
    return tally


def main() -> int:
    """Runs the proof and prints one line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--interleavings", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        tally = prove(Path(folder), interleavings=options.interleavings, seed=options.seed)
    for problem in tally.problems:
        print(problem)
    print(
        f"two_windows: {tally.interleavings} interleavings, {tally.steps:,} steps, "
        f"{tally.changes:,} changes, {tally.saves:,} saves, {tally.at_once} pairs at once, "
        f"{tally.questions} questions, {tally.notices} notices, {tally.overwritten} changes "
        f"overwritten as answered: {len(tally.problems)} lost or unnoticed without a question"
    )
    return 1 if tally.problems else 0


if __name__ == "__main__":
    sys.exit(main())
