"""A bridge in a process of its own over plain pipes: the far end of a line without ssh."""

from __future__ import annotations

import hashlib
import os
import sys

from workbench.remote.ssh.command import BOOTSTRAP
from workbench.remote.ssh.connection import Connection

LOCAL = (sys.executable, "-I", "-u", "-c", BOOTSTRAP)


def local_line(home, **options):
    """A connection to a bridge on this computer, whose folder is `home`.

    The bridge's HOME is that folder too: nothing of the developer's is seen or touched.
    """
    env = {**os.environ, "HOME": str(home), "TMPDIR": str(home)}
    return Connection(LOCAL, home=str(home), name="there", env=env, **options)


def digest_before(data):
    """The digest that `attach` gets of the bytes that this end has."""
    return hashlib.sha256(data[-64 * 1024 :]).hexdigest()


def send(line, kind, data, *, piece=1 << 20):
    """Uploads something whole; returns its sha256."""
    sha = hashlib.sha256(data).hexdigest()
    if line.call("have", kind=kind, sha=sha, size=len(data)).flag("is_whole"):
        return sha
    for offset in range(0, len(data), piece):
        line.call("put", data[offset : offset + piece], kind=kind, sha=sha, offset=offset)
    line.call("commit", kind=kind, sha=sha)
    return sha
