"""The mark by which a queued run is known to have been queued by this user, on this computer.

A run folder from elsewhere may hold a marker of the queue; what it requests must not start by
itself. The marker of a run queued here carries a keyed checksum of the request; the key is in the
state folder, not among the runs, so it does not travel with them.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets

from workbench.core.storage.own_file import make_private, open_own
from workbench.errors import SaveError, os_errors_as
from workbench.runs.folder import RunFolder
from workbench.runs.home import data_home

KEY_NAME = "queue.key"
_KEY_BYTES = 32


def seal_of(run: RunFolder) -> str:
    """The mark of a run that is queued now; raises SaveError where no key can be kept."""
    key = _read_key() or _make_key()
    return _seal(run, key)


def is_sealed(run: RunFolder, seal: str) -> bool:
    """Whether a mark is that of this user and this request."""
    key = _read_key()
    return bool(key and seal) and hmac.compare_digest(_seal(run, key), seal)


def _seal(run: RunFolder, key: bytes) -> str:
    digest = hmac.new(key, digestmod=hashlib.sha256)
    for path in (run.request_path, run.target_path):
        try:
            data = path.read_bytes()
        except OSError:
            data = b""
        digest.update(hashlib.sha256(data).digest())
    return digest.hexdigest()


def _read_key() -> bytes:
    """The key; empty where there is none yet, or none that is whole."""
    try:
        key = (data_home() / KEY_NAME).read_bytes()
    except OSError:
        return b""
    return key if len(key) == _KEY_BYTES else b""


def _make_key() -> bytes:
    path = data_home() / KEY_NAME
    what, fix = "The queue cannot be used.", "Make the settings folder writable."
    with os_errors_as(SaveError, what, path, fix=fix):
        make_private(path.parent)
        try:
            descriptor = open_own(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:  # another process was faster
            return _read_key()
        key = secrets.token_bytes(_KEY_BYTES)
        with os.fdopen(descriptor, "wb") as file:
            file.write(key)
    return key
