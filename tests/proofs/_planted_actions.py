"""What is done to folders with planted links: commands, a trainer, a mirror, a window."""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

from tests.planted import EXPORTS, RUN, Sandbox
from tests.proofs._tiny_runs import wait_for_end
from tests.remote.bridges import local_line
from workbench.cli import main
from workbench.errors import WorkbenchError
from workbench.remote.mirror.file_fetcher import Fetching
from workbench.remote.mirror.process import carry
from workbench.remote.mirror.session import LogMirror
from workbench.runs.folder import RunFolder
from workbench.runs.home import is_own

Action = Callable[[Sandbox], str]
"""Does something in a sandbox; returns what was reported, in words."""


def command(*words: str) -> Action:
    """A command, with the sandbox's folders for RUN, PROJECTS, EXPORTS and PICTURE."""

    def run(sandbox: Sandbox) -> str:
        folders = {
            "RUN": sandbox.run,
            "PROJECTS": sandbox.projects,
            "EXPORTS": sandbox.exports,
            "PICTURE": sandbox.projects / "picture.png",
        }
        filled = [_filled(word, folders) for word in words]
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            code = main(filled)
        wait_for_trainers(sandbox)
        return f"{code}: {printed.getvalue()}"

    return run


def _filled(word: str, folders: dict[str, Path]) -> str:
    first, slash, rest = word.partition("/")
    return f"{folders[first]}{slash}{rest}" if first in folders else word


def wait_for_trainers(sandbox: Sandbox) -> None:
    """Waits until no run of the sandbox trains, wherever its folder is."""
    for runs in (sandbox.home / "runs", sandbox.outside / "group"):
        for path in runs.glob("*"):
            wait_for_end(RunFolder(path))


def mirror(sandbox: Sandbox) -> str:
    """Starts a run mirror, which this target has no use for; then copies the log and fetches the files
    of the run from a bridge, as a run mirror does.
    """
    run, far = RunFolder(sandbox.run), sandbox.root / "far"
    said = [f"{carry(run.path)}:"]
    if not is_own(run.path):
        return f"{said[0]} it was refused, as the run mirror would be"
    for step in (partial(_copy_log, run), partial(_fetch, run, far)):
        try:
            step()
        except (WorkbenchError, OSError) as error:
            said.append(str(error))
    return " ".join(said)


def _copy_log(run: RunFolder) -> None:
    with contextlib.closing(LogMirror(run.events_path)) as log:
        log.append(log.offset, b"more\n")
        log.restart()
        log.append(0, b"anew\n")
        log.finish_restart()


def _fetch(run: RunFolder, far: Path) -> None:
    problems = []
    with local_line(far) as line:
        fetching = Fetching(run, line, RUN)
        for bring in (fetching.small, fetching.state, fetching.model, fetching.words):
            try:
                bring()
            except WorkbenchError as error:
                problems.append(error)
        fetching.close()
    if problems:
        raise problems[0]


def window(sandbox: Sandbox) -> str:
    """Opens a window with the project: renames, tags, resumes, stops, saves, deletes."""
    from tests.proofs._planted_window import use_window

    return use_window(sandbox)


GROUPS: dict[str, dict[str, Action]] = {
    "light": {
        "runs": command("runs"),
        "runs --json": command("runs", "--json"),
        "runs rename": command("runs", "rename", "RUN", "renamed"),
        "runs tag": command("runs", "tag", "RUN", "tag"),
        "runs note": command("runs", "note", "RUN", "note"),
        "runs export": command("runs", "export", "RUN", "EXPORTS/curves.csv"),
        "compare": command("compare", "RUN", "RUN"),
        "stop": command("stop", "RUN"),
        "stop --pause": command("stop", "RUN", "--pause"),
        "new": command("new", "fashion_convnet", "PROJECTS/new.workbench"),
        "check": command("check", "PROJECTS/p.workbench"),
        "mirror": mirror,
        "runs trash": command("runs", "trash", "RUN"),
    },
    "waiting": {
        "queue move": command("queue", "move", "RUN", "up"),
        "queue cancel": command("queue", "cancel", "RUN"),
    },
    "turn": {"queue": command("queue")},
    "resume": {"resume": command("resume", "RUN")},
    "train": {
        "evaluate": command("evaluate", "RUN"),
        "load": command("load", "PROJECTS/p.workbench", "PROJECTS/model.keras"),
        "train": command("train", "PROJECTS/p.workbench", "--epochs", "1"),
    },
    "export": {
        "runs export": command("runs", "export", "RUN", "EXPORTS/curves.csv"),
        "notebook": command("notebook", "PROJECTS/p.workbench", "EXPORTS/train.ipynb"),
        "classify": command("classify", "RUN", "PICTURE", "--csv", "EXPORTS/answers.csv"),
        **{
            f"export {key}": command("export", "RUN", key, f"EXPORTS/{name}")
            for name, (key,) in EXPORTS.items()
        },
    },
    "window": {"window": window},
}
"""Actions by group; those of a group are done one after another in one sandbox."""

LIGHT = ("light", "waiting")
"""Groups that need no TensorFlow and no window: tried with each place by itself."""

QUEUED = ("waiting", "turn")
"""Groups whose run is queued before links are planted."""


def set_home(sandbox: Sandbox) -> None:
    """This process, and those that it starts, use the sandbox's folders alone."""
    os.environ["WORKBENCH_HOME"] = str(sandbox.home)
    os.environ["HOME"] = str(sandbox.root / "user")
    os.environ["XDG_DATA_HOME"] = str(sandbox.root / "user" / "share")
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
