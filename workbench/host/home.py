"""The folder that is ours on this computer, and the only names that may be used within it.

environments/ID   Python environments, one for each lock file
code/ID           the application's own sources, unpacked
parcels/ID        images and labels, unpacked
states/ID         log and checkpoints of a run from elsewhere, until its folder is made of it
uploads/          what has come so far of a file
runs/NAME         as on every computer
"""

import contextlib
import errno
import json
import os
import re
import tempfile
from typing import Any, Dict, Optional

from workbench.host.faults import Fault, system_faults

_RUN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,119}")
_SHA = re.compile(r"[0-9a-f]{64}")


class Home:
    """Paths within our folder; texts from the other end are checked before they name one."""

    def __init__(self, text: str) -> None:
        self.path = os.path.abspath(os.path.expanduser(text))

    def make(self) -> None:
        """Makes the folders, for the account alone; raises Fault, also where they are foreign."""
        with system_faults(self.path):
            for name in ("", "environments", "code", "parcels", "states", "uploads", "runs"):
                os.makedirs(os.path.join(self.path, name), mode=0o700, exist_ok=True)
            info = os.stat(self.path)
        if info.st_uid != os.getuid():
            raise Fault(
                "foreign_home",
                "The Workbench folder on the other computer belongs to another user.",
                where=self.path,
                fix="Choose another folder.",
            )

    def environment(self, sha: str) -> str:
        """The environment made from a lock file of this sha256."""
        return os.path.join(self.path, "environments", checked_sha(sha)[:16])

    def stored(self, kind: str, sha: str) -> str:
        """The unpacked folder of an upload."""
        folder = {"code": "code", "parcel": "parcels", "state": "states"}.get(kind)
        if folder is None:
            raise Fault("request", "Unknown kind of upload.", received=repr(kind))
        return os.path.join(self.path, folder, checked_sha(sha))

    def upload(self, kind: str, sha: str) -> str:
        """The file that an upload grows in."""
        return os.path.join(self.path, "uploads", os.path.basename(self.stored(kind, sha)))

    @property
    def runs(self) -> str:
        """The folder of all runs."""
        return os.path.join(self.path, "runs")

    def run(self, name: str) -> str:
        """The folder of a run, whether it is there or not."""
        if not isinstance(name, str) or not _RUN.fullmatch(name):
            raise Fault(
                "request",
                "The name of a run may have letters, digits, dots and dashes.",
                received=repr(name)[:200],
            )
        return os.path.join(self.runs, name)

    def known_run(self, name: str) -> str:
        """The folder of a run that is there; raises Fault where there is none."""
        folder = self.run(name)
        if not os.path.isfile(os.path.join(folder, "request.json")):
            raise Fault(
                "no_run",
                "The run is no longer on the other computer.",
                where=folder,
                fix="Train it again, or resume it here from its last checkpoint.",
            )
        return folder


def checked_sha(sha: str) -> str:
    """A sha256 in hexadecimal digits; raises Fault for anything else."""
    if not isinstance(sha, str) or not _SHA.fullmatch(sha):
        raise Fault("request", "Not a sha256 checksum.", received=repr(sha)[:200])
    return sha


def read_json(path: str) -> Optional[Dict[str, Any]]:
    """An object from a small file; None where there is none, or a damaged one."""
    try:
        with open(path, "rb") as file:
            value = json.loads(file.read(1 << 20).decode("utf-8"))
    except (OSError, ValueError):
        return None
    return value if isinstance(value, dict) else None


def write_file(path: str, data: bytes) -> None:
    """Replaces a small file as a whole, or leaves it as it is; raises Fault."""
    with system_faults(path):
        descriptor, temporary = tempfile.mkstemp(prefix=".new-", dir=os.path.dirname(path))
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise
        flush_folder(os.path.dirname(path))


def write_json(path: str, value: Dict[str, Any]) -> None:
    """Writes an object as JSON, as `write_file` does."""
    write_file(path, json.dumps(value, indent=1).encode("ascii"))


def flush_folder(path: str) -> None:
    """Waits until a folder's entries are on the disk; nothing where that is not supported."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.EBADF, errno.ENOTSUP):
            raise
    finally:
        os.close(descriptor)


def remove_file(path: str) -> None:
    """Removes a file, if it is there; raises Fault."""
    with system_faults(path), contextlib.suppress(FileNotFoundError):
        os.unlink(path)
