"""Installs a part of Workbench by pip, in a child process, while the program is running."""

from __future__ import annotations

import importlib
import re
import sys
import tempfile
from collections import deque
from collections.abc import Callable, Sequence
from importlib import metadata
from pathlib import Path

from workbench.errors import DeadlineError, RunError
from workbench.parts import Part, install_steps
from workbench.processes.child import Child, end_words

OnProgress = Callable[[str], None]
Check = Callable[[], None]

_DEADLINE_S = 3600.0
_LAST_LINES = 6
_NO_NETWORK = re.compile(
    r"NewConnectionError|NameResolutionError|ConnectTimeout|Failed to establish a new connection|"
    r"name resolution|Name or service not known|Network is unreachable|ProxyError|"
    r"Connection to \S+ timed out|dns error|error sending request"
)
_CONFLICT = re.compile(r"ResolutionImpossible|conflicting dependencies|No solution found")
_WRITES = ("Installing collected packages", "Installed ")
"""Beginnings of the line after which packages are being replaced: no longer to be broken off."""


def install(part: Part, *, on_progress: OnProgress, check: Check) -> None:
    """Installs the packages of a part beside this Python. None that is installed already changes,
    as the running program has loaded some of them.

    Args:
        part: What is installed.
        on_progress: Called with each line that pip prints; may come from any thread.
        check: Called often, until packages are being written; raises to cancel.

    Raises:
        RunError: it could not be installed; says where there is no connection to the package index.
        WorkbenchError: what `check` raises; nothing is installed then.
    """
    state = _Installation(on_progress, check)
    with tempfile.TemporaryDirectory() as folder:
        constraints = Path(folder) / "installed.txt"
        constraints.write_text(_installed(), "utf-8")
        for words in install_steps(part.wanted):
            state.run(part, _careful(words, constraints))
    importlib.invalidate_caches()
    if not part.is_installed:
        raise RunError(
            f"{part.library} was installed, but cannot be found.",
            where=sys.executable,
            received=f"no module {' or '.join(part.missing_modules)}",
            fix="Restart Workbench.",
        )


class _Installation:
    """What pip has printed so far."""

    def __init__(self, on_progress: OnProgress, check: Check) -> None:
        self._on_progress, self._check = on_progress, check
        self._is_writing = False
        self._printed: list[str] = []

    def run(self, part: Part, words: Sequence[str]) -> None:
        try:
            run_to_end(
                words,
                f"{part.library} could not be installed.",
                deadline_s=_DEADLINE_S,
                on_progress=self._take,
                check=self._may_go_on,
                fix=f"In a terminal: `{part.install_command}`.",
            )
        except RunError as error:
            raise self._explained(part, error) from error

    def _take(self, line: str) -> None:
        self._printed.append(line)
        if line.startswith(_WRITES):
            self._is_writing = True
        self._on_progress(line)

    def _may_go_on(self) -> None:
        if not self._is_writing:
            self._check()

    def _explained(self, part: Part, error: RunError) -> RunError:
        """The error with its usual cause in words."""
        printed = "\n".join(self._printed)
        if _NO_NETWORK.search(printed):
            return RunError(
                f"{part.library} could not be installed: no connection to the package index. This "
                "computer is offline, or a firewall or proxy refuses.",
                where=error.where,
                received=error.received,
                fix="Nothing was changed. Connect it and try again, or run this line in a terminal "
                f"later: `{part.install_command}`.",
            )
        if _CONFLICT.search(printed):
            return RunError(
                f"{part.library} needs other versions of packages that Workbench is using now.",
                where=error.where,
                received=error.received,
                fix="Nothing was changed. Close Workbench, then run this line in a terminal: "
                f"`{part.install_command}`.",
            )
        return error


def _installed() -> str:
    """Each installed package with its version, as constraints of pip."""
    found = {each.name: each.version for each in metadata.distributions() if each.name}
    return "".join(f"{name}=={version}\n" for name, version in sorted(found.items()))


def _careful(words: Sequence[str], constraints: Path) -> list[str]:
    """The words of an installation, which ends soon where there is no network."""
    if "install" not in words:
        return list(words)
    at = words.index("install") + 1
    options = ["--constraint", str(constraints)]
    if "-m" in words:  # pip itself; -I: what is in the current folder is not imported
        options += ["--disable-pip-version-check", "--no-input", "--progress-bar", "off"]
        options += ["--retries", "1", "--timeout", "15"]
    head = [words[0], "-I", *words[1:at]] if "-m" in words else list(words[:at])
    return [*head, *options, *words[at:]]


def run_to_end(
    command: Sequence[str],
    what: str,
    *,
    deadline_s: float,
    on_progress: OnProgress,
    check: Check,
    fix: str,
) -> None:
    """Runs a program to its end, and reports each line that it prints.

    Args:
        command: Program and arguments.
        what: What has failed, in the error.
        fix: How to fix it, in the error.
        deadline_s: The longest it may take.
        on_progress: Called with each line.
        check: Called often; raises to end it.

    Raises:
        RunError: it has failed, or took longer.
        WorkbenchError: what `check` raises.
    """
    last: deque[str] = deque(maxlen=_LAST_LINES)
    try:
        with Child(command, name="it", order=b"", check=check, has_merged_errors=True) as child:
            for line in child.lines(deadline_s=deadline_s):
                if text := line.decode("utf-8", "replace").strip():
                    last.append(text)
                    on_progress(text)
            code = child.exit_code()
    except DeadlineError as error:
        raise RunError(what, where=command[0], received=error.what, fix=fix) from error
    if code != 0:
        words = "\n".join(last) or f"it {end_words(code)}"
        raise RunError(what, where=command[0], received=words, fix=fix)
