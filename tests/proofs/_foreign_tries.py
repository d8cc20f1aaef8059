"""Commands, a trainer and a window in forks of this process: what each prints, how long it takes, how
much memory, and what it connects to or writes outside of its folders.

A fork has imported the code before, TensorFlow too where this process has; the commands are those
of `workbench.cli.main`, the service worker and the trainer those that it starts, as forks as well.
"""

from __future__ import annotations

import logging
import os
import queue
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from tests.mutated_runs import CHANGED
from tests.traced import Sandbox
from workbench.cli import _service, main
from workbench.protocol.bases import Answer, FinalAnswer, Request
from workbench.protocol.service_call import ServiceCall
from workbench.runs import start
from workbench.runs.folder import RunFolder
from workbench.runs.home import runs_home
from workbench.worker import __main__ as worker
from workbench.worker.process.setup import SessionFolder
from workbench.worker.service import Service

LIMIT_S = 30
"""A fork that goes on then is killed: far longer than what is allowed."""

_ROOM_BYTES = 6 << 30
"""Data of a fork: what reads without end fails, and takes no memory from others."""

_LONGEST_LIST_S = 120.0

OUTSIDE = "reaches outside:"
FAULTS = ("Traceback (most", "Internal error", "An unexpected error", "MemoryError", OUTSIDE)
"""What is printed where something went wrong that was not foreseen."""

_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT
_CHANGES = {"os.rename": (1, 3), "os.mkdir": (0, 2), "os.remove": (0, 1), "os.rmdir": (0, 1)}
"""Where the arguments of events of Python have the path and its folder's descriptor."""


@dataclass(frozen=True)
class Try:
    """What came of a fork.

    Attributes:
        code: Its exit code; minus a signal.
        said: All that it printed.
        seconds, mib: How long it took, and the most memory that it or a child of it had.
    """

    code: int
    said: str
    seconds: float
    mib: int

    def fault(self, usual: Try) -> str:
        """What must not be, compared with how it is with files as they are; "" for nothing."""
        if self.code not in {0, 1, 2, 3, 4}:
            return f"ended with {self.code}: {self.said[-1500:]}"
        if any(words in self.said for words in FAULTS):
            return self.said[-2500:]
        seconds, mib = self.seconds - usual.seconds, self.mib - usual.mib
        return f"{seconds:.1f} s and {mib} MiB more" if seconds > 5 or mib > 256 else ""


def tried(sandbox: Sandbox, act: Callable[[], int]) -> Try:
    """Does it in a fork that is of the sandbox's user."""
    with tempfile.TemporaryFile() as printed:
        started = time.monotonic()
        pid = os.fork()
        if pid == 0:
            _fork(sandbox, act, printed.fileno())
        _, status, usage = os.wait4(pid, 0)
        seconds = time.monotonic() - started
        with suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)
        printed.seek(0)
        said = printed.read().decode(errors="replace")
    return Try(os.waitstatus_to_exitcode(status), said, seconds, usage.ru_maxrss // 1024)


def _fork(sandbox: Sandbox, act: Callable[[], int], printed: int) -> None:
    code = 99
    try:
        os.setsid()
        signal.alarm(LIMIT_S)
        resource.setrlimit(resource.RLIMIT_DATA, (_ROOM_BYTES, _ROOM_BYTES))
        for number in (1, 2):
            os.dup2(printed, number)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        sys.stdout, sys.stderr = os.fdopen(1, "w"), os.fdopen(2, "w", buffering=1)
        os.environ.clear()
        os.environ.update(sandbox.environment(TF_CPP_MIN_LOG_LEVEL="2"))
        os.chdir(sandbox.work)
        tempfile.tempdir = None
        watch(sandbox.root)
        _service.ServiceCall = _ServiceHere  # type: ignore[misc, assignment]
        start.start_session = _forked_session
        code = act()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    except BaseException:  # noqa: BLE001 - what this proof looks for
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def watch(root: Path, *, is_fatal: bool = False) -> None:
    """Prints what this process, or one that is forked from it, connects to or writes elsewhere; ends
    the process then, where that `is_fatal`.
    """
    inside = (str(root) + os.sep, "/dev/", "/proc/")
    sys.dont_write_bytecode = True

    def look(event: str, found: tuple[Any, ...]) -> None:
        if event == "socket.connect" and isinstance(found[1], tuple):
            tell("connects to", found[1])
        elif event == "open" and isinstance(found[2], int) and found[2] & _WRITES:
            check(event, found[0], -1)
        elif event in _CHANGES:
            at, folder_at = _CHANGES[event]
            check(event, found[at], found[folder_at])

    def check(event: str, path: object, folder: int) -> None:
        if not isinstance(path, str | bytes | os.PathLike):
            return  # an open file
        start = Path.cwd() if folder < 0 else Path(f"/proc/self/fd/{folder}").readlink()
        whole = os.path.normpath(start / os.fsdecode(path))
        if not whole.startswith(inside):
            tell(event, whole)

    def tell(*words: object) -> None:
        print(OUTSIDE, *words, file=sys.stderr, flush=True)
        if is_fatal:
            os._exit(97)

    sys.addaudithook(look)


def peak_mib() -> int:
    """The most memory that this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def _forked_session(
    words: Sequence[str], environment: Mapping[str, str], descriptors: Mapping[int, int]
) -> int:
    """As `workbench.processes.child.start_session`, of the trainer only, as a fork."""
    if words[0] != "workbench.worker":
        print(OUTSIDE, *words, file=sys.stderr)
        raise OSError("nothing is started but a trainer")
    pid = os.fork()
    if pid == 0:
        code = 99
        try:
            signal.alarm(LIMIT_S)
            for theirs, ours in sorted(descriptors.items()):
                os.dup2(ours, theirs)
            os.environ.clear()
            os.environ.update(environment)
            code = worker.main(list(words[1:]))
        except BaseException:  # noqa: BLE001 - it is in the log of the run
            traceback.print_exc()
        finally:
            os._exit(code)
    return pid


class _Line:
    """A channel with one request: it ends once that is answered."""

    def __init__(self, request: Request) -> None:
        self.answers: list[Answer] = []
        self._requests: queue.SimpleQueue[Request | None] = queue.SimpleQueue()
        self._requests.put(request)

    def receive(self) -> Request | None:
        return self._requests.get()

    def send(self, answer: Answer) -> None:
        self.answers.append(answer)
        if isinstance(answer, FinalAnswer):
            self._requests.put(None)


class _ServiceHere(ServiceCall):
    """The service worker in this process."""

    def __init__(self) -> None:
        self._folder = SessionFolder()

    def __enter__(self) -> Self:
        self._folder.__enter__()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._folder.__exit__(*exc_info)

    def answers(self, request: Request) -> Iterator[Answer]:
        line = _Line(request)
        Service(line, self._folder).run()  # type: ignore[arg-type]
        yield from line.answers


def command(*words: str) -> Callable[[], int]:
    """A command."""
    return lambda: main(words)


def until_over(act: Callable[[], int]) -> int:
    """A command, and the training that it starts."""
    code = act()
    run = RunFolder(runs_home() / CHANGED)
    while run.is_alive():
        time.sleep(0.02)
    print(*run.log_tail(), sep="\n")
    return code


def window() -> int:
    """The window with a project, and each view that shows the run with changed files."""
    return _shown(2, [CHANGED])


def _shown(count: int, names: Sequence[str] = ()) -> int:
    """Opens a window over so many runs, and shows those with a name (all without any)."""
    from PySide6.QtCore import QEventLoop, QTimer
    from PySide6.QtWidgets import QApplication

    from workbench.app import close_context, make_context, make_window
    from workbench.runs.home import data_home

    logging.basicConfig(level=logging.ERROR)
    sys.excepthook = traceback.print_exception
    slowest_s, held_s, looked_at = 0.0, 0.0, time.monotonic()

    def wait(is_there: Callable[[], object], seconds: float) -> float:
        nonlocal held_s, looked_at
        started, loop = time.monotonic(), QEventLoop()
        looked_at = started
        while not is_there() and time.monotonic() < started + seconds:
            QTimer.singleShot(5, loop.quit)
            loop.exec()
            now = time.monotonic()
            held_s, looked_at = max(held_s, now - looked_at), now
        if not is_there():
            print(OUTSIDE, "the window has waited for", seconds, "s")
        return time.monotonic() - started

    application = QApplication([])
    context = make_context(data_home(), application)
    shown = make_window(context, data_home())
    shown.show()
    library = context.library
    library.failed.connect(print)
    library.open()
    shown.files.open("p.workbench")
    listed_s = wait(lambda: len(library.runs) >= count, _LONGEST_LIST_S if count > 2 else 5.0)
    runs = [library.home / name for name in names] or [run.path for run in library.runs]
    for number, run in enumerate(runs):
        library.select(run)
        for key in ("train", "evaluate", "classify") if names else ("train",):
            view = shown.show_view(key)
            if key != "train":
                view.chooser.choose(run)
        follower = library.current
        if follower is not None:
            slowest_s = max(slowest_s, wait(lambda: follower.is_loaded, 5.0))  # noqa: B023
        if number % 100 == 0:
            print(f"{number} runs shown", flush=True)
    ended = time.monotonic() + 0.3
    wait(lambda: time.monotonic() > ended, 5.0)
    shown.hide()
    close_context(context)
    print(
        f"{len(library.runs)} runs listed after {listed_s:.1f} s, {len(runs)} shown, each within "
        f"{slowest_s:.1f} s; the window's thread held for {held_s * 1000:.0f} ms at most; "
        f"{peak_mib()} MiB"
    )
    return 0


if __name__ == "__main__":
    sys.exit(_shown(int(sys.argv[1])))
