"""HMACs that prove what was written on this computer by this user, and did not come along.

A run folder from elsewhere may hold a marker of the queue, or name machines to train with; what it
requests must not start, and where it says must not be connected to, by itself. What was kept here
carries a keyed checksum of its content. The key is in the state folder, not among the runs, so it
does not travel with them.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import hmac
import os
import secrets
from pathlib import Path

from workbench.core.storage.file_lock import take_lock
from workbench.core.storage.foreign_file import REQUEST_BYTES, read_foreign
from workbench.core.storage.own_file import make_private
from workbench.core.storage.save import save_bytes
from workbench.errors import RunError, SaveError, os_errors_as
from workbench.hardware.cluster import CLUSTER_NAME, Cluster
from workbench.runs.folder import RunFolder
from workbench.runs.home import data_home

KEY_NAME = "queue.key"
CLUSTER_SEAL_NAME = "cluster.seal"
_KEY_BYTES = 32


def seal(purpose: str, *parts: bytes) -> str:
    """The mark of some content that is kept for one purpose; SaveError where no key can be kept."""
    return _mark(_read_key() or _make_key(), purpose, parts)


def is_sealed(mark: str, purpose: str, *parts: bytes) -> bool:
    """Whether a mark is that of this user, this purpose and this content."""
    key = _read_key()
    return bool(key and mark) and hmac.compare_digest(
        _mark(key, purpose, parts).encode(), mark.encode(errors="replace")
    )


def undo_key(nonce: str) -> bytes:
    """The user's key for an undo file (`pictures.sorting`); b"" where no key can be kept."""
    try:
        return bytes.fromhex(seal("undo", nonce.encode()))
    except SaveError:
        return b""


def _mark(key: bytes, purpose: str, parts: tuple[bytes, ...]) -> str:
    digest = hmac.new(key, purpose.encode(), digestmod=hashlib.sha256)
    for part in parts:
        digest.update(hashlib.sha256(part).digest())
    return digest.hexdigest()


def request_parts(run: RunFolder) -> tuple[bytes, ...]:
    """What of a run says what is trained and where: the content of a mark of it."""
    return tuple(_content(path) for path in (run.request_path, run.target_path))


def seal_cluster(run: RunFolder) -> None:
    """Marks the machines that a run's folder names as named by this user: what has written them
    was requested over a line of their own. Raises SaveError.
    """
    cluster = _cluster_bytes(run)
    if cluster is not None:
        mark = seal(CLUSTER_NAME, cluster, *request_parts(run)[:1])
        save_bytes(run.path / CLUSTER_SEAL_NAME, mark.encode())


def sealed_cluster(run: RunFolder) -> Cluster | None:
    """The machines that a run's folder names; None where it names none.

    Raises:
        RunError: they are not those that were named here by this user (the folder came from
            elsewhere), or no description of machines.
    """
    cluster = _cluster_bytes(run)
    if cluster is None:
        return None
    mark = _content(run.path / CLUSTER_SEAL_NAME).decode(errors="replace")
    if is_sealed(mark, CLUSTER_NAME, cluster, *request_parts(run)[:1]):
        return Cluster.from_text(cluster.decode(errors="replace"))
    named = ""
    with contextlib.suppress(RunError):
        named = ", ".join(Cluster.from_text(cluster.decode(errors="replace")).machines)
    raise RunError(
        "The run's folder names machines to train with that were not named on this computer.",
        where=str(run.path / CLUSTER_NAME),
        received=named[:2000] or "no description of machines",
        expected="machines that you have started the run on from your own computer",
        fix=f"Nothing has been contacted. If the folder came from elsewhere, delete {CLUSTER_NAME} "
        "in it; if you have started the run from another computer, resume it there.",
    )


def _cluster_bytes(run: RunFolder) -> bytes | None:
    path = run.path / CLUSTER_NAME
    try:
        return read_foreign(path, REQUEST_BYTES, follows_links=False)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise RunError(
            "The description of the machines cannot be read.",
            where=str(path),
            received=error.strerror or str(error),
            fix=f"Delete {CLUSTER_NAME} from the run's folder.",
        ) from error


def _content(path: Path) -> bytes:
    """The content of a file; empty where it cannot be read."""
    try:
        return read_foreign(path, REQUEST_BYTES, follows_links=False)
    except OSError:
        return b""


def _read_key() -> bytes:
    """The key; empty where there is none yet, or none that is whole."""
    try:
        key = read_foreign(data_home() / KEY_NAME, _KEY_BYTES)
    except OSError:
        return b""
    return key if len(key) == _KEY_BYTES else b""


def _make_key() -> bytes:
    """Makes the key, under the lock of its file: another process may be faster. One that is not
    whole, as a full disk leaves it, is replaced; SaveError.
    """
    path = data_home() / KEY_NAME
    what, fix = "The queue cannot be used.", "Make the settings folder writable."
    with os_errors_as(SaveError, what, path, fix=fix):
        make_private(path.parent)
        descriptor = take_lock(path)
        if descriptor is None:
            raise TimeoutError(errno.ETIMEDOUT, "another process has locked it")
        with os.fdopen(descriptor, "r+b") as file:
            key = file.read(_KEY_BYTES + 1)
            if len(key) != _KEY_BYTES:
                key = secrets.token_bytes(_KEY_BYTES)
                os.fchmod(descriptor, 0o600)
                file.truncate(0)
                file.seek(0)
                file.write(key)
    return key
