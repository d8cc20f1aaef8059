"""A run that is trained by another computer: the state of its run mirror, and where the run is.

link.json     the state of the connection to the other computer; written by the run mirror, and
              there exactly as long as the run's lock is a run mirror's, not a trainer's
remote.json   where the run is on the other computer, and what was made ready for it there
"""

from __future__ import annotations

import time
from typing import Any, Literal

import msgspec

from workbench.core.projects.project import Choice
from workbench.core.storage.json_file import read_json, save_json
from workbench.core.storage.save import save_bytes
from workbench.protocol.bases import ErrorParts
from workbench.runs.folder import RunFolder
from workbench.runs.home import check_own

LinkState = Literal["setting_up", "connecting", "attached", "lost", "gone", "refused", "ended"]

_LATE_S = 3.0


class Link(msgspec.Struct, frozen=True, kw_only=True):
    """The state of the connection.

    Attributes:
        state: setting_up; connecting; attached; lost (the run mirror tries again); gone (lost for
            so long, or reported so, that the run may go on elsewhere; the run mirror tries again);
            refused (trying again is of no use: see `error`); ended (nothing more will come).
        host: The other computer, as people call it.
        device: What trains there, as the subject of a sentence: "The TPU".
        words: What is being done, while it is set up.
        fraction: How much of that is done, 0..1 where known.
        since: When the state began, or the connection was lost; seconds since the epoch.
        tries: How often it was tried in vain since.
        next_try: When it is tried again; seconds since the epoch.
        pid: The run mirror's process on this computer.
        error: Why the connection was lost, or refused.
    """

    state: LinkState
    host: str = ""
    device: str = ""
    words: str = ""
    fraction: float | None = None
    since: float = 0.0
    tries: int = 0
    next_try: float = 0.0
    pid: int = 0
    error: ErrorParts | None = None


class Remote(msgspec.Struct, frozen=True, kw_only=True):
    """Place of a run on another computer.

    Attributes:
        target: The target with its parameters, as it was requested: {"key", "params"}.
        host: The other computer, as people call it.
        run: The run's folder there.
        code, parcel, environment: Names by content of what was made ready there; "" for what
            is not used.
        attempt: How often the run was started or resumed: requesting the same attempt again
            starts nothing.
        is_resumed: The last of them goes on from a checkpoint.
        is_abandoned: The run went on elsewhere: nothing of this place counts any more.
    """

    target: dict[str, Any]
    host: str
    run: str
    code: str = ""
    parcel: str = ""
    environment: str = ""
    attempt: int = 1
    is_resumed: bool = False
    is_abandoned: bool = False
    format: str = "workbench-remote"
    version: int = 1

    def choice(self) -> Choice:
        """The target."""
        return Choice(str(self.target.get("key", "")), dict(self.target.get("params", {})))


def plain_target(choice: Choice) -> dict[str, Any]:
    """A target as `Remote` holds it."""
    return {"key": choice.key, "params": dict(choice.params)}


def read_link(run: RunFolder) -> Link | None:
    """The state of the connection; None for a run that has no run mirror, or where it cannot be
    read.
    """
    return read_json(run.link_path, Link)


def write_link(run: RunFolder, link: Link) -> None:
    """Writes the state of the connection; raises SaveError."""
    save_bytes(run.link_path, msgspec.json.encode(link))


def forget_link(run: RunFolder) -> None:
    """From here on the run's lock is a trainer's of this computer."""
    run.link_path.unlink(missing_ok=True)


def has_mirror(run: RunFolder) -> bool:
    """True where the holder of the run's lock is a run mirror. Cheap: checks for one file."""
    return run.link_path.exists()


def read_remote(run: RunFolder) -> Remote | None:
    """Place of the run on another computer; None where it was never made ready elsewhere, or was
    abandoned there.
    """
    remote = read_json(run.remote_path, Remote)
    return None if remote is None or remote.is_abandoned else remote


def write_remote(run: RunFolder, remote: Remote) -> None:
    """Keeps where the run is; raises SaveError."""
    check_own(run.path)
    save_json(run.remote_path, remote)


def abandon_remote(run: RunFolder) -> None:
    """The run goes on elsewhere: no run mirror connects to the place where it was; SaveError."""
    remote = read_remote(run)
    if remote is not None:
        write_remote(run, msgspec.structs.replace(remote, is_abandoned=True))


def link_words(link: Link, now: float | None = None) -> str:
    """The state of the connection at `now` (seconds since the epoch; None: the clock's), as
    sentences; "" where all is as it should be.
    """
    now = time.time() if now is None else now
    host = link.host or "the other computer"
    match link.state:
        case "setting_up":
            share = "" if link.fraction is None else f" ({100 * link.fraction:.0f}%)"
            return f"Setting up {host}: {link.words or 'checking'}{share}."
        case "connecting":
            return f"Connecting to {host}."
        case "lost" | "gone":
            lost_s = max(0.0, now - link.since)
            return f"Connection to {host} lost for {lost_s:,.0f} s{_next_words(link, now)}."
        case "attached" if link.words:
            return f"The run {link.words}."
        case "refused":
            error = link.error or ErrorParts(what=f"{host} refused.")
            return " ".join(filter(None, (error.what, error.fix)))
        case _:
            return ""


def _next_words(link: Link, now: float) -> str:
    wait_s = link.next_try - now
    if wait_s > 0.5:
        return f"; reconnecting in {wait_s:,.0f} s"
    return "; reconnecting" if wait_s > -_LATE_S else ""
