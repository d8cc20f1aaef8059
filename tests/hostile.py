"""Projects and run folders that name a stranger's address, and a window that is opened over them.

`python -m tests.hostile [--seconds N] PROJECT...` opens the real window over $WORKBENCH_HOME, opens
each project, shows each view, lets the list of runs be read a few times, and ends after N seconds.
"""

from __future__ import annotations

import socket
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Self

import msgspec

from workbench.core.projects.project import Choice, Project
from workbench.core.projects.project_file import save_project
from workbench.core.projects.texts import parse_target
from workbench.protocol.events import Heartbeat
from workbench.runs.folder import RunFolder, create_run
from workbench.runs.link import Link, Remote, plain_target, write_link, write_remote
from workbench.runs.log.event_log import EventWriter
from workbench.runs.state.queue import MARKER_NAME
from workbench.targets import all_targets
from workbench.templates import find_template

_LISTS = 3
_LONGEST_S = 240.0


class Listener:
    """A server on the loopback interface that counts who connects; closes them at once."""

    def __init__(self) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        self.greetings: list[bytes] = []
        self._thread = threading.Thread(target=self._serve, name="listener", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join()

    def _serve(self) -> None:
        while True:
            try:
                line, _ = self._socket.accept()
            except OSError:  # closed
                return
            with line:
                line.settimeout(5.0)
                try:
                    self.greetings.append(line.recv(64))
                except OSError:
                    self.greetings.append(b"")


def targets(port: int) -> list[Choice]:
    """Targets that name the address in each way that there is."""
    place = f"127.0.0.1:{port}"
    texts = (f"tpu:grpc://{place}", f"ssh:{place}", f"ssh:{place}/tpu:local",
             f"ssh:{place},127.0.0.2:{port}", f"several:127.0.0.2:{port},127.0.0.3:{port}")  # fmt: skip
    return [parse_target(text, all_targets()) for text in texts]


def write_projects(folder: Path, port: int) -> list[Path]:
    """A project for each target, and one whose images come from the internet."""
    base = find_template("cifar10_convnet").project
    projects = [replace(base, target=target) for target in targets(port)]
    paths = [folder / f"{number}.workbench" for number in range(len(projects))]
    for project, path in zip(projects, paths, strict=True):
        save_project(project, path)
    return paths


def away_run(home: Path, name: str, target: Choice, *, state: str = "attached") -> RunFolder:
    """A run that goes on elsewhere, as its folder claims."""
    run = create_run(find_template("fashion_convnet").project, path=home / "runs" / name)
    with EventWriter(run.events_path) as log:
        log.write(Heartbeat(memory_bytes=1))
    write_link(run, msgspec.convert({"state": state, "host": "a friend"}, Link))
    plain = plain_target(target)
    write_remote(run, Remote(target=plain, host="a friend's computer", run="run-1"))
    return run


def write_runs(home: Path, port: int) -> None:
    """Runs that claim to go on elsewhere, and runs that claim to be queued."""
    for number, target in enumerate(targets(port)):
        for state in ("attached", "lost", "gone", "connecting"):
            away_run(home, f"away-{number}-{state}", target, state=state)
        project: Project = find_template("cifar10_convnet").project
        queued = replace(project, target=target)
        run = create_run(queued, path=home / "runs" / f"queued-{number}")
        (run.path / MARKER_NAME).write_text('{"order": 1, "since": 1.0}')
    run = create_run(project, path=home / "runs" / "queued-download")
    (run.path / MARKER_NAME).write_text('{"order": 0, "since": 1.0}')


def main(words: list[str]) -> int:
    """Shows all of it; 0 when the runs were listed."""
    from PySide6.QtCore import QTimer
    from PySide6.QtWidgets import QApplication

    from workbench import app
    from workbench.gui.shell.main_window import MainWindow
    from workbench.gui.views import all_views

    started, lists, least_s = time.monotonic(), 0, 0.0
    if words[:1] == ["--seconds"]:
        least_s, words = float(words[1]), words[2:]
    to_open, to_show = list(words[1:]), list(all_views())

    def look() -> None:
        nonlocal lists
        windows = [one for one in QApplication.topLevelWidgets() if isinstance(one, MainWindow)]
        library = windows[0].context.library if windows else None
        if library is None or not library.runs:
            pass
        elif to_open:
            windows[0].files.open(to_open.pop())
        elif to_show:
            windows[0].show_view(to_show.pop())
        elif lists < _LISTS and not library._is_listing:  # a refresh while listing begins anew
            lists += 1
            library.refresh()
        seconds = time.monotonic() - started
        if seconds < least_s or (lists < _LISTS and seconds < _LONGEST_S):
            QTimer.singleShot(500, look)
            return
        windows[0].close()

    application = QApplication.instance() or QApplication(["workbench"])
    QTimer.singleShot(0, look)
    app.run_window(words[0] if words else None)
    assert application is not None
    return 0 if lists >= _LISTS else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
